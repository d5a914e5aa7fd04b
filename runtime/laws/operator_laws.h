#pragma once
// What a run may rely on of an operator's laws.
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

/// A search for counter-examples, and what follows from it.
///
/// Many an operator on floats obeys its laws but for NaN: max(-inf, nan) is -inf, so -inf is not neutral.
/// Associativity and identity that NaN alone refutes are relied on all the same, with a warning, where no
/// data are known; nothing could run without them. Data with NaN are folded from left to right.
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
    /// Folds of more elements than these may overflow, and break laws whose verdicts do not speak of that.
    std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
    /// Not relied on, as these data may overflow: see broken_by_overflow().
    std::vector<Law> broken_by_overflow = {};
    std::vector<Law> assumed;          ///< refuted, and relied on because the user asked for it
    bool assumes_identity = false;     ///< the user vouches for it where no data are known
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
    /// Of a fold that does not see its data: who would see them, as a refusal adds. Empty: it sees them.
    std::string unseen_data = {};
    /// How the user can rely on a law that is refuted, as messages say it; LAW stands for the law. Empty: in
    /// no way.
    std::string assume_option = {};

    /// The same for one law: "--assume identity".
    [[nodiscard]] std::string how_to_assume(Law law) const;

    /// False where associativity is refuted, though stages may be told to rely on it: then the fold from left
    /// to right alone is right.
    [[nodiscard]] bool is_associative() const;

    /// The laws that are refuted and relied on all the same, of which law_warnings() has the
    /// counter-examples.
    [[nodiscard]] std::vector<Law> relied_on_in_doubt() const;
};

/// Searches as long as `options` say, and then proves where `proof` is given, for 0 seconds not at all; what
/// is proved or refuted with one is remembered beside the compiled kernels. Laws that are refuted and in
/// `assumed` are relied on.
OperatorLaws judge_laws(const Operator& op, const LawOptions& options = {},
                        const std::vector<Law>& assumed = {}, const prove::ProofOptions* proof = nullptr);

/// What a report means for stages, where refuted laws of `assumed` are relied on.
OperatorLaws laws_assuming(const Operator& op, LawReport report, const std::vector<Law>& assumed);

/// The verdicts that an earlier proof left, or a short search, bounded by cases and not by the clock, so that
/// the same operator always gets the same plan.
OperatorLaws quick_laws(const Operator& op, const std::vector<Law>& assumed = {});

/// Which values of the scalars may mean another verdict than the report of all values.
enum class ScalarDoubt : std::uint8_t {
    none,     ///< the laws are known for all states, whatever the scalars are
    extreme,  ///< those of which a proof over the reals, or while nothing overflows, says nothing
    any,      ///< a law is refuted, or no more is known than that the search has not refuted it
};

[[nodiscard]] ScalarDoubt doubt_of_scalars(const Operator& op, const LawReport& report);

/// True where these values may mean another verdict than the report of all values. A value that is not known
/// counts as none of the extreme ones: infinities, NaN, and integers whose square their type does not hold.
[[nodiscard]] bool depends_on_scalars(const Operator& op, const LawReport& report,
                                      const ScalarValues& scalars);

/// The same of the scalars among lent arrays, as far as they lie on the host.
[[nodiscard]] bool is_in_doubt(ScalarDoubt doubt, const Operator& op, std::span<const ArrayView> inputs);

/// What the report of all values means for these values of the scalars: laws that are not known for them are
/// searched for counter-examples once more, with these values.
[[nodiscard]] OperatorLaws laws_for_scalars(const Operator& op, LawReport report, const ScalarValues& scalars,
                                            const std::vector<Law>& assumed);

/// True where on_data() may say something else of the identity.
[[nodiscard]] bool depends_on_data(const OperatorLaws& laws);

/// True where all that on_data() may say of the identity follows from whether the data are finite, but for
/// what `doubts_identity` asks of the elements.
[[nodiscard]] bool depends_on_finite(const OperatorLaws& laws);

/// True where on_data() may find NaN that keep associativity from being relied on.
[[nodiscard]] bool depends_on_nan(const OperatorLaws& laws);

/// Relies on associativity no longer, as there are NaN, which refute it: `with_nan` says where.
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

/// What a stream relies on, which does not know its data.
[[nodiscard]] OperatorLaws on_stream(OperatorLaws laws, const Operator& op);

/// The same of data of which no more is known than that all values are finite.
[[nodiscard]] OperatorLaws on_finite_data(OperatorLaws laws, const Operator& op);

/// Whether the operator says that it obeys a law: associativity always, an identity where it states one.
[[nodiscard]] bool claims(const Operator& op, Law law);

/// Throws SpecError with the counter-example where the identity is refuted and cannot be relied on; ways out
/// are named.
void require_sound_identity(const OperatorLaws& laws, const Operator& op);

/// That a fold which `knows_no_data`, as "a plan" does, relies on laws that overflow may break.
[[nodiscard]] std::vector<std::string> overflow_warnings(const OperatorLaws& laws, const Operator& op,
                                                         std::string_view knows_no_data);

/// What the user should know before relying on results: a line each, and more in further lines, without a
/// final newline. Where NaN alone refutes associativity, `ordered_stage` is named, a stage that folds from
/// left to right.
std::vector<std::string> law_warnings(const OperatorLaws& laws, const Operator& op,
                                      const std::string& ordered_stage = {});

}  // namespace segfold
