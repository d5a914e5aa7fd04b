#pragma once
// Laws of an operator that a run may rely on.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/problem.h"
#include "dsl/laws/laws.h"
#include "runtime/data/array_view.h"
#include "runtime/data/workload.h"
#include "runtime/laws/prove/prove.h"

namespace segfold {

/// A search for counter-examples, and its consequences.
///
/// Many operators on floats obey their laws except for NaN: max(-inf, nan) is -inf, so -inf is not neutral.
/// If only NaN refutes associativity or the identity, a run without known data still relies on them, with a
/// warning: nothing could run without them. Data with NaN are folded from left to right.
struct OperatorLaws {
    LawReport report;
    UsableLaws usable;
    bool has_sound_identity = true;   ///< false: it is refuted, and nothing below speaks for it
    bool has_sound_append = true;     ///< false: it is refuted, and combine and lift serve instead
    std::vector<Law> refuted_by_nan;  ///< relied on, but for NaN
    /// Where NaN alone refutes associativity, and keeps it from being relied on: "'x' has NaN".
    std::optional<std::string> with_nan = {};
    /// Not relied on, as overflow refutes them and nothing else does: see while_nothing_overflows().
    std::vector<Law> refuted_by_overflow;
    /// Relied on by while_nothing_overflows(), though overflow refutes them.
    std::vector<Law> spared_overflow = {};
    /// Folds of more elements may overflow, and so break laws whose verdicts leave overflow out.
    std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
    /// Not relied on, as these data may overflow: see broken_by_overflow().
    std::vector<Law> broken_by_overflow = {};
    std::vector<Law> assumed;          ///< refuted, and relied on because the user asked for it
    bool assumes_identity = false;     ///< the user vouches for it if no data are known
    bool assumes_associative = false;  ///< the user vouches for it
    bool is_remembered = false;        ///< the report is that of an earlier proof
    bool takes_undeclared = false;     ///< commutativity is not declared, and relied on as it is proved
    /// No search refutes the identity but by NaN, and elements of the data may all the same: a fold tries it
    /// on them.
    bool doubts_identity = false;
    bool spares_data = false;  ///< the identity is refuted, though not by values that the data have
    /// Where the data are spared: so many of their elements were tried, and there are so many. 0: none was.
    std::int64_t num_tried = 0, num_elements = 0;
    /// Why the operator runs without its identity: it is neutral on finite values alone, and these are not.
    std::optional<std::string> without_identity = {};
    /// False for a plan and a stream: without_identity is then a precaution that no result shows.
    bool knows_data = true;
    /// Of a fold that does not see its data: who would see them, for a refusal. Empty: it sees them.
    std::string unseen_data = {};
    /// How the user can rely on a law that is refuted, as messages say it; LAW stands for the law. Empty: in
    /// no way.
    std::string assume_option = {};

    /// The same for one law: "--assume identity".
    [[nodiscard]] std::string how_to_assume(Law law) const;

    /// False where associativity is refuted, though stages may be told to rely on it: then the fold from left
    /// to right alone is right.
    [[nodiscard]] bool is_associative() const;

    /// Refuted laws that a run still relies on; law_warnings() shows their counter-examples.
    [[nodiscard]] std::vector<Law> relied_on_in_doubt() const;
};

/// Searches as long as `options` say; then proves if `proof` is given, but not for 0 seconds. Verdicts of
/// proofs are kept beside the compiled kernels. Laws that are refuted and in `assumed` are relied on.
OperatorLaws judge_laws(const Operator& op, const LawOptions& options = {},
                        const std::vector<Law>& assumed = {}, const prove::ProofOptions* proof = nullptr);

/// The laws that stages may use by a report; refuted laws of `assumed` count as true.
OperatorLaws laws_assuming(const Operator& op, LawReport report, const std::vector<Law>& assumed);

/// The verdicts that an earlier proof left, or a short search, bounded by cases and not by the clock, so that
/// the same operator always gets the same plan.
OperatorLaws quick_laws(const Operator& op, const std::vector<Law>& assumed = {});

/// Which values of the scalars may mean another verdict than the report of all values.
enum class ScalarDoubt : std::uint8_t {
    none,     ///< the laws are known for all states, whatever the scalars are
    extreme,  ///< values that a proof over the reals, or without overflow, leaves out
    any,      ///< a law is refuted, or no more is known than that the search has not refuted it
};

[[nodiscard]] ScalarDoubt doubt_of_scalars(const Operator& op, const LawReport& report);

/// True if these values may have another verdict than the report on all values. A value that is not known
/// counts as none of the extreme ones: infinities, NaN, and integers whose square their type does not hold.
[[nodiscard]] bool depends_on_scalars(const Operator& op, const LawReport& report,
                                      const ScalarValues& scalars);

/// The same of the scalars among lent arrays, as far as they lie on the host.
[[nodiscard]] bool is_in_doubt(ScalarDoubt doubt, const Operator& op, std::span<const ArrayView> inputs);

/// The laws for these values of the scalars, by the report on all values. Laws that it leaves open are
/// searched again with these values.
[[nodiscard]] OperatorLaws laws_for_scalars(const Operator& op, LawReport report, const ScalarValues& scalars,
                                            const std::vector<Law>& assumed);

/// True where on_data() may say something else of the identity.
[[nodiscard]] bool depends_on_data(const OperatorLaws& laws);

/// True if on_data() judges the identity by whether the data are finite, apart from the question of
/// `doubts_identity` to the elements.
[[nodiscard]] bool depends_on_finite(const OperatorLaws& laws);

/// True where on_data() may find NaN that keep associativity from being relied on.
[[nodiscard]] bool depends_on_nan(const OperatorLaws& laws);

/// Stops relying on associativity, because NaN in the data refute it; `with_nan` says where they are.
void keep_order_of_nan(OperatorLaws& laws, std::string with_nan);

/// Relies on the laws that overflow alone refutes, as if they were not refuted.
[[nodiscard]] OperatorLaws while_nothing_overflows(OperatorLaws laws, const Operator& op);

/// What the data change: laws that their verdicts leave to what does not overflow are not relied on where
/// these data may, nor is such an identity or append. Laws that overflow alone refutes are relied on where no
/// order of combining these data overflows, and such an identity is left out elsewhere. An identity that only
/// other values refute is relied on, and one that is neutral on finite values alone is left out where
/// infinities or NaN occur. One that is not refuted, and not known to be neutral to whatever lift may give,
/// is tried on the elements: it is left out where only states that are not finite show that it is none, or
/// overflow does, and is refuted else. Associativity that is not known for all states is refuted where some
/// neighbouring elements show that. Associativity that NaN alone refutes is not relied on where the data have
/// NaN. Laws that NaN alone refutes are not warned of where values of the data's range show none.
[[nodiscard]] OperatorLaws on_data(OperatorLaws laws, const Workload& workload);

/// The laws of a stream, which does not know its data.
[[nodiscard]] OperatorLaws on_stream(OperatorLaws laws, const Operator& op);

/// The same for data of which one fact is known: all values are finite.
[[nodiscard]] OperatorLaws on_finite_data(OperatorLaws laws, const Operator& op);

/// True if the operator claims a law: associativity always, an identity if it states one.
[[nodiscard]] bool claims(const Operator& op, Law law);

/// Throws SpecError with the counter-example where the identity is refuted and cannot be relied on; ways out
/// are named.
void require_sound_identity(const OperatorLaws& laws, const Operator& op);

/// The warning that a fold without its data (`knows_no_data`: "a plan") relies on laws that overflow may
/// break.
[[nodiscard]] std::vector<std::string> overflow_warnings(const OperatorLaws& laws, const Operator& op,
                                                         std::string_view knows_no_data);

/// Warnings on the results: one line each, more in further lines, without a final newline. If NaN alone
/// refutes associativity, they name `ordered_stage`, which folds from left to right.
std::vector<std::string> law_warnings(const OperatorLaws& laws, const Operator& op,
                                      const std::string& ordered_stage = {});

}  // namespace segfold
