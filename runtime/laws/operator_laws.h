#pragma once
// The laws of an operator that a run may rely on.
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

/// The outcome of a search for counter-examples, and the laws that may be relied on.
///
/// Many operators on floats obey their laws except for NaN: max(-inf, nan) is -inf, so -inf is not neutral.
/// If no data are known, associativity and identity refuted only by NaN are still relied on, with a warning;
/// otherwise nothing could run. Data with NaN are folded from left to right.
struct OperatorLaws {
    LawReport report;
    UsableLaws usable;
    bool has_sound_identity = true;   ///< false: the identity is refuted and cannot be relied on
    bool has_sound_append = true;     ///< false: append is refuted, and lift and combine serve instead
    std::vector<Law> refuted_by_nan;  ///< relied on although NaN refutes them
    /// Names the data with NaN, as in "'x' has NaN", if these NaN keep associativity from being relied on.
    std::optional<std::string> with_nan = {};
    /// Laws that only overflow refutes, and that are not relied on: see while_nothing_overflows().
    std::vector<Law> refuted_by_overflow;
    /// Laws that overflow refutes, but that while_nothing_overflows() relies on.
    std::vector<Law> spared_overflow = {};
    /// A fold of more elements than this may overflow and so break laws whose verdicts do not cover overflow.
    std::int64_t most_elements = std::numeric_limits<std::int64_t>::max();
    /// Laws that are not relied on because these data may overflow: see broken_by_overflow().
    std::vector<Law> broken_by_overflow = {};
    std::vector<Law> assumed;          ///< refuted, but relied on at the user's request
    bool assumes_identity = false;     ///< the user vouches for the identity if no data are known
    bool assumes_associative = false;  ///< the user vouches for associativity
    bool is_remembered = false;        ///< the report comes from an earlier proof
    bool takes_undeclared = false;     ///< commutativity is relied on as proved, though not declared
    /// No search refutes the identity, except by NaN, but elements of the data may. A fold tries it on them.
    bool doubts_identity = false;
    bool spares_data = false;  ///< the identity is refuted, but not by values in the data
    /// If the data are spared: the number of elements tried, and of all elements. 0: none was tried.
    std::int64_t num_tried = 0, num_elements = 0;
    /// Why the operator runs without its identity: it is neutral only on finite values, and some are not
    /// finite.
    std::optional<std::string> without_identity = {};
    /// False if the data are unknown, as for a plan or a stream; without_identity is then only a precaution.
    bool knows_data = true;
    /// Text that a refusal adds if the fold does not see its data: it names a fold that does. Otherwise
    /// empty.
    std::string unseen_data = {};
    /// Text that says how the user can rely on a refuted law, with LAW in the law's place. Empty: it cannot
    /// be done.
    std::string assume_option = {};

    /// Returns assume_option with the law's name: "--assume identity".
    [[nodiscard]] std::string how_to_assume(Law law) const;

    /// False if associativity is refuted, even if stages are told to rely on it. Then only the fold from left
    /// to right is right.
    [[nodiscard]] bool is_associative() const;

    /// Returns the laws that are relied on although they are refuted. law_warnings() shows their
    /// counter-examples.
    [[nodiscard]] std::vector<Law> relied_on_in_doubt() const;
};

/// Searches for counter-examples within `options`. If `proof` is given with more than 0 seconds, tries to
/// prove the laws next; then it stores verdicts that are proofs or refutations beside the compiled kernels.
/// Refuted laws in `assumed` are relied on.
OperatorLaws judge_laws(const Operator& op, const LawOptions& options = {},
                        const std::vector<Law>& assumed = {}, const prove::ProofOptions* proof = nullptr);

/// Decides which laws stages may rely on, given a report. Refuted laws in `assumed` are relied on too.
OperatorLaws laws_assuming(const Operator& op, LawReport report, const std::vector<Law>& assumed);

/// Returns the stored verdicts of an earlier proof; if there are none, those of a short search.
///
/// The search is bounded by cases, not by the clock, so the same operator always gets the same plan.
OperatorLaws quick_laws(const Operator& op, const std::vector<Law>& assumed = {});

/// Which values of the scalars may change the verdicts of a report made for all values.
enum class ScalarDoubt : std::uint8_t {
    none,     ///< the laws are known for all states, whatever the scalars are
    extreme,  ///< values about which a proof over the reals, or without overflow, says nothing
    any,      ///< any value: a law is refuted, or a search has merely found no counter-example
};

[[nodiscard]] ScalarDoubt doubt_of_scalars(const Operator& op, const LawReport& report);

/// True if these scalar values may change the verdicts of a report made for all values. A value that is not
/// known does not count as extreme. Extreme are infinities, NaN, and integers whose square overflows their
/// type.
[[nodiscard]] bool depends_on_scalars(const Operator& op, const LawReport& report,
                                      const ScalarValues& scalars);

/// Whether `doubt` applies to these arrays, judged by the scalars among them that are in host memory.
[[nodiscard]] bool is_in_doubt(ScalarDoubt doubt, const Operator& op, std::span<const ArrayView> inputs);

/// Adapts a report for all scalar values to these values. Laws that are not known to hold for them are
/// searched for counter-examples again.
[[nodiscard]] OperatorLaws laws_for_scalars(const Operator& op, LawReport report, const ScalarValues& scalars,
                                            const std::vector<Law>& assumed);

/// True if on_data() may judge the identity otherwise.
[[nodiscard]] bool depends_on_data(const OperatorLaws& laws);

/// True if on_data() only needs to know whether the data are finite to judge the identity, apart from what
/// `doubts_identity` asks.
[[nodiscard]] bool depends_on_finite(const OperatorLaws& laws);

/// True if on_data() may find NaN that break associativity.
[[nodiscard]] bool depends_on_nan(const OperatorLaws& laws);

/// Stops relying on associativity because of NaN, which refute it; `with_nan` says where they are.
void keep_order_of_nan(OperatorLaws& laws, std::string with_nan);

/// Relies on the laws that only overflow refutes, as if nothing refuted them.
[[nodiscard]] OperatorLaws while_nothing_overflows(OperatorLaws laws, const Operator& op);

/// Adapts the laws to the data.
///
/// Overflow: if these data may overflow, laws, an identity or an append whose verdicts do not cover overflow
/// are not relied on. If no order of combining these data overflows, laws that only overflow refutes are
/// relied on. An identity that only overflow refutes is left out otherwise.
///
/// Identity: if only values outside the data refute it, it is relied on. If it is neutral only on finite
/// values, it is left out when the data have infinities or NaN. If it is neither refuted nor known to be
/// neutral, it is tried on the elements. It is left out if it fails only on states that are not finite or by
/// overflow, and counts as refuted if it fails on others.
///
/// Associativity: if it is not known for all states, neighbouring elements may refute it. If only NaN refutes
/// it, it is not relied on when the data have NaN.
///
/// If values in the data's range do not break a law that only NaN refutes, no warning is given.
[[nodiscard]] OperatorLaws on_data(OperatorLaws laws, const Workload& workload);

/// Returns the laws for a stream, which does not know its data.
[[nodiscard]] OperatorLaws on_stream(OperatorLaws laws, const Operator& op);

/// Returns the laws for data of which only one thing is known: all values are finite.
[[nodiscard]] OperatorLaws on_finite_data(OperatorLaws laws, const Operator& op);

/// Whether the operator claims a law. It always claims associativity, and an identity if it states one.
[[nodiscard]] bool claims(const Operator& op, Law law);

/// Throws SpecError with the counter-example and the ways out if the identity is refuted and cannot be relied
/// on.
void require_sound_identity(const OperatorLaws& laws, const Operator& op);

/// Warns that a fold relies on laws that overflow may break. `knows_no_data` names the fold, as in "a plan".
[[nodiscard]] std::vector<std::string> overflow_warnings(const OperatorLaws& laws, const Operator& op,
                                                         std::string_view knows_no_data);

/// Returns warnings that the user should read before relying on results. Each has a headline and may have
/// more lines, without a final newline. If only NaN refutes associativity, the warning names `ordered_stage`,
/// a stage that folds from left to right.
std::vector<std::string> law_warnings(const OperatorLaws& laws, const Operator& op,
                                      const std::string& ordered_stage = {});

}  // namespace segfold
