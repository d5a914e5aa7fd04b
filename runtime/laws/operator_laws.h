#pragma once
// Judges an operator's laws, for all data or for the data of a run.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/array_view.h"
#include "runtime/data/workload.h"
#include "runtime/laws/judged_laws.h"
#include "runtime/laws/prove/prove.h"

namespace segfold {

/// Judges the laws by a search for counter-examples within `options`. If `proof` allows more than 0 seconds,
/// then also tries to prove them, and stores proofs and refutations beside the compiled kernels. Stages rely
/// on the laws in `assumed` even if they are refuted.
OperatorLaws judge_laws(const Operator& op, const LawOptions& options = {},
                        const std::vector<Law>& assumed = {}, const prove::ProofOptions* proof = nullptr);

/// Returns the laws of a report on which stages may rely. Laws in `assumed` are included even if they are
/// refuted.
OperatorLaws laws_assuming(const Operator& op, LawReport report, const std::vector<Law>& assumed);

/// Returns the stored verdicts of an earlier proof. If there are none, returns the verdicts of a short
/// search.
///
/// The number of cases, not the clock, ends the search, so the same operator always gets the same plan.
OperatorLaws quick_laws(const Operator& op, const std::vector<Law>& assumed = {});

/// Kinds of scalar values that may change the verdicts of a report on all scalar values.
enum class ScalarDoubt : std::uint8_t {
    none,     ///< no value; the laws are known for all states, whatever the scalars are
    extreme,  ///< infinity, NaN, and values whose square overflows; some proofs do not cover them
    any,      ///< any value; a law is refuted, or was only searched for counter-examples
};

[[nodiscard]] ScalarDoubt doubt_of_scalars(const Operator& op, const LawReport& report);

/// True if these scalar values may change verdicts of a report on all values. This is so if one of them is
/// infinite, NaN, or an integer whose square overflows its type. Unknown values are ignored.
[[nodiscard]] bool depends_on_scalars(const Operator& op, const LawReport& report,
                                      const ScalarValues& scalars);

/// True if a scalar in `inputs` may have a value of kind `doubt`. For ScalarDoubt::extreme, checks only
/// scalars in host memory.
[[nodiscard]] bool is_in_doubt(ScalarDoubt doubt, const Operator& op, std::span<const ArrayView> inputs);

/// Derives the laws for the values `scalars` from a report on all scalar values. If these values may change a
/// verdict, searches for counter-examples again. Laws in `assumed` are relied on even if they are refuted.
[[nodiscard]] OperatorLaws laws_for_scalars(const Operator& op, LawReport report, const ScalarValues& scalars,
                                            const std::vector<Law>& assumed);

/// True if the verdict on the identity may change in on_data().
[[nodiscard]] bool depends_on_data(const OperatorLaws& laws);

/// True if the verdict on the identity depends only on whether all data are finite. on_data() then needs to
/// look at nothing else, unless `doubts_identity` is true.
[[nodiscard]] bool depends_on_finite(const OperatorLaws& laws);

/// True if associativity depends on whether the data have NaN, which on_data() checks.
[[nodiscard]] bool depends_on_nan(const OperatorLaws& laws);

/// Makes stages stop relying on associativity because NaN refutes it. `with_nan` is a text such as "'x' has
/// NaN".
void keep_order_of_nan(OperatorLaws& laws, std::string with_nan);

/// Makes stages rely on laws that only overflow refutes. For folds that cannot overflow.
[[nodiscard]] OperatorLaws while_nothing_overflows(OperatorLaws laws, const Operator& op);

/// Adapts the laws to the data of a fold.
///
/// Overflow: if these data may overflow, no stage relies on a law, an identity or an append whose verdict
/// does not cover overflow. If no order of combining these data overflows, stages also rely on the laws that
/// only overflow refutes. An identity that only overflow refutes is left out if these data may overflow.
///
/// Identity: stages rely on an identity that only values outside of these data refute. An identity that is
/// neutral only on finite values is left out if the data have infinities or NaN. An identity that is neither
/// refuted nor known to be neutral is tried on elements. If it fails there only by overflow or on states that
/// are not finite, it is left out. If it fails on other states, it counts as refuted.
///
/// Associativity: if it is not known to hold for all states, it is tried on neighbouring elements. If only
/// NaN refutes it, no stage relies on it when the data have NaN.
///
/// A law that only NaN refutes gets no warning if values in the data's range do not break it.
[[nodiscard]] OperatorLaws on_data(OperatorLaws laws, const Workload& workload);

/// Returns the laws for a stream, whose data are unknown.
[[nodiscard]] OperatorLaws on_stream(OperatorLaws laws, const Operator& op);

/// Returns the laws for data that are all finite and otherwise unknown.
[[nodiscard]] OperatorLaws on_finite_data(OperatorLaws laws, const Operator& op);

/// True if the operator claims `law`. Every operator claims associativity; an operator with an identity
/// claims that the identity is neutral.
[[nodiscard]] bool claims(const Operator& op, Law law);

/// Throws SpecError if the identity is refuted and stages cannot rely on it. The message shows the
/// counter-example and lists the user's choices.
void require_sound_identity(const OperatorLaws& laws, const Operator& op);

/// Returns warnings that a fold relies on laws which overflow may break. `knows_no_data` names the fold, such
/// as "a plan".
[[nodiscard]] std::vector<std::string> overflow_warnings(const OperatorLaws& laws, const Operator& op,
                                                         std::string_view knows_no_data);

/// Returns warnings that the user should read before relying on results. Each has a headline and possibly
/// more lines, without a final newline. `ordered_stage` names a stage that folds from left to right; the
/// warning mentions it if only NaN refutes associativity.
std::vector<std::string> law_warnings(const OperatorLaws& laws, const Operator& op,
                                      const std::string& ordered_stage = {});

}  // namespace segfold
