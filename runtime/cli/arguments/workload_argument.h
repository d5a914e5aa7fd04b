#pragma once
// Reads the data of a run: arrays from files or generated, and the layout that cuts them into segments.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/data/workload_request.h"

namespace segfold::cli {

/// The flags that describe a run's data, except --input.
inline constexpr Flag kDataFlags[] = {{"layout", "LAYOUT"}, {"elements", "N"},   {"features", "K"},
                                      {"seed", "S"},        {"values", "RANGE"}, {"index-bits", "32|64"},
                                      {"sort-keys"},        {"num-groups", "G"}};
inline constexpr Flag kScalarFlag = {"scalar", "NAME=VALUE", true};
inline constexpr Flag kInputFlags[] = {{"input", "NAME=FILE", true}, kScalarFlag};

/// Returns the file that --input gives for each parameter, by the parameter's name. Uses only the names of
/// `op` and its parameters. Throws InputError if --input is malformed or gives a parameter twice. Also throws
/// for a parameter that `op` does not have, unless `passes_others`: `op` is then a factor of a product, and
/// other factors may have the parameter.
std::map<std::string, std::string> input_files(const Arguments& arguments, const Operator& op,
                                               bool passes_others = false);

/// Returns the text that --scalar gives for each scalar of the operator, by the scalar's name. Throws
/// InputError if --scalar is malformed or names no scalar of the operator.
std::map<std::string, std::string> scalar_texts(const Arguments& arguments, const Operator& op);
/// Returns the texts of --scalar for several operators. Not every operator must have every scalar.
std::map<std::string, std::string> scalar_texts(const Arguments& arguments, std::span<const Operator> ops);

/// Throws InputError if a file in `written`, the files that --output writes, is also read by --input,
/// --layout or --labels.
void refuse_to_overwrite_what_is_read(const Arguments& arguments, const Operator& op,
                                      const std::vector<std::string>& written);

/// Returns the data that kDataFlags request. Also reads kInputFlags if `with_inputs` is true. Throws
/// InputError if flags are wrong or contradict each other.
WorkloadRequest workload_request(const Arguments& arguments, const Operator& op, bool with_inputs);

/// Throws InputError if the flags do not give a parameter that cannot be generated. Serves to report this
/// before long work begins; make_workload() checks it again.
void require_given_by_flags(const Operator& op, const WorkloadRequest& request);

/// Returns the text in a report for a scalar from --scalar. It is the scalar's value, since the user may have
/// written an expression.
std::string given_scalar_text(const Parameter& scalar, const Array& value);

/// Returns the text in a report for a scalar that was not given: the generated value, its origin, and the
/// flag that gives another value.
std::string made_up_scalar_text(const Parameter& scalar, const Array& value, std::string_view origin);

/// Returns the range of generated values with which an operator's plans should be compared.
///
/// Floats are uniform fractions, because products of integers up to 8 overflow in long segments, and infinite
/// results cannot distinguish plans. f16 and bf16 get -1, 0 and 1, because sums of 16-bit fractions depend on
/// the order of addition; sums of these integers are exact up to 2^11 in f16 and 2^8 in bf16. If the operator
/// is idempotent, f16 and bf16 get fractions, which reveal more errors.
[[nodiscard]] ValueRange agreeing_values(const Operator& op);

/// Returns the range of values that check and bench generate by default.
///
/// The range is small_integers. If totals of these values leave the normal range of a floating-point type, as
/// products do, it is near_one or uniform.
[[nodiscard]] ValueRange suiting_values(const Operator& op);

}  // namespace segfold::cli
