#pragma once
// Judges the laws of an operator, for all data and for the data of a run.
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

/// Searches for counter-examples within `options`. If `proof` allows more than 0 seconds, then tries to prove
/// the laws, and stores proofs and refutations beside the compiled kernels. Stages rely on the refuted laws
/// in `assumed`.
OperatorLaws judge_laws(const Operator& op, const LawOptions& options = {},
                        const std::vector<Law>& assumed = {}, const prove::ProofOptions* proof = nullptr);

/// Decides which laws of a report stages may rely on. They also rely on the refuted laws in `assumed`.
OperatorLaws laws_assuming(const Operator& op, LawReport report, const std::vector<Law>& assumed);

/// Returns the stored verdicts of an earlier proof, or, if there are none, the verdicts of a short search.
///
/// The number of cases ends the search, not the clock, so the same operator always gets the same plan.
OperatorLaws quick_laws(const Operator& op, const std::vector<Law>& assumed = {});

/// Kinds of scalar values that may change a verdict that a report gives for all scalar values.
enum class ScalarDoubt : std::uint8_t {
    none,     ///< the laws are known for all states, whatever the scalars are
    extreme,  ///< infinite, NaN, or so large that the square overflows: some proofs do not cover them
    any,      ///< any value: a law is refuted, or a search has merely found no counter-example
};

[[nodiscard]] ScalarDoubt doubt_of_scalars(const Operator& op, const LawReport& report);

/// True if these scalar values may change verdicts that a report gives for all values: if one of them is
/// infinite, NaN, or an integer whose square overflows its type. An unknown value changes nothing.
[[nodiscard]] bool depends_on_scalars(const Operator& op, const LawReport& report,
                                      const ScalarValues& scalars);

/// True if a scalar in `inputs` may have a value of kind `doubt`. For ScalarDoubt::extreme, only scalars in
/// host memory are looked at.
[[nodiscard]] bool is_in_doubt(ScalarDoubt doubt, const Operator& op, std::span<const ArrayView> inputs);

/// Turns a report for all scalar values into the laws for the values `scalars`. If a verdict may differ for
/// these values, searches anew for counter-examples. Stages also rely on the refuted laws in `assumed`.
[[nodiscard]] OperatorLaws laws_for_scalars(const Operator& op, LawReport report, const ScalarValues& scalars,
                                            const std::vector<Law>& assumed);

/// True if on_data() may change the verdict on the identity.
[[nodiscard]] bool depends_on_data(const OperatorLaws& laws);

/// True if on_data() judges the identity by a single fact: whether all data are finite. If `doubts_identity`
/// is set, it also tries the identity on elements.
[[nodiscard]] bool depends_on_finite(const OperatorLaws& laws);

/// True if on_data() may find NaN that break associativity.
[[nodiscard]] bool depends_on_nan(const OperatorLaws& laws);

/// Stops relying on associativity because NaN refute it. `with_nan` is a text such as "'x' has NaN".
void keep_order_of_nan(OperatorLaws& laws, std::string with_nan);

/// Lets stages rely on the laws that only overflow refutes, as if nothing refuted them.
[[nodiscard]] OperatorLaws while_nothing_overflows(OperatorLaws laws, const Operator& op);

/// Adapts the laws to the data.
///
/// Overflow: if these data may overflow, no stage relies on a law, an identity or an append whose verdict
/// does not cover overflow. If no order of combining these data overflows, stages rely on the laws that only
/// overflow refutes. If the data may overflow, an identity that only overflow refutes is left out.
///
/// Identity: stages rely on an identity that only values outside the data refute. An identity that is neutral
/// only on finite values is left out if the data have infinities or NaN. An identity that is neither refuted
/// nor known to be neutral is tried on the elements. If it then fails only by overflow or on states that are
/// not finite, it is left out; if it fails on other states, it counts as refuted.
///
/// Associativity: if associativity is not known to hold for all states, neighbouring elements may refute it.
/// If only NaN refutes associativity, no stage relies on it when the data have NaN.
///
/// A law that only NaN refutes gets no warning if values in the data's range do not break it.
[[nodiscard]] OperatorLaws on_data(OperatorLaws laws, const Workload& workload);

/// Returns the laws for a stream, which does not know its data.
[[nodiscard]] OperatorLaws on_stream(OperatorLaws laws, const Operator& op);

/// Returns the laws for data whose values are all finite and otherwise unknown.
[[nodiscard]] OperatorLaws on_finite_data(OperatorLaws laws, const Operator& op);

/// True if the operator claims a law. It always claims associativity, and an identity if it states one.
[[nodiscard]] bool claims(const Operator& op, Law law);

/// Throws SpecError if the identity is refuted and stages cannot rely on it. The message has the
/// counter-example and tells the user's choices.
void require_sound_identity(const OperatorLaws& laws, const Operator& op);

/// Warns that a fold relies on laws that overflow may break. `knows_no_data` names the fold, as in "a plan".
[[nodiscard]] std::vector<std::string> overflow_warnings(const OperatorLaws& laws, const Operator& op,
                                                         std::string_view knows_no_data);

/// Returns warnings that the user should read before relying on results. Each has a headline and may have
/// more lines, without a final newline. `ordered_stage` is a stage that folds from left to right. If only NaN
/// refutes associativity, the warning names this stage.
std::vector<std::string> law_warnings(const OperatorLaws& laws, const Operator& op,
                                      const std::string& ordered_stage = {});

}  // namespace segfold
