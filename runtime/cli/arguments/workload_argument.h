#pragma once
// Reads the flags for a run's data: files, generated values, and the layout of the segments.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/data/workload_request.h"

namespace segfold::cli {

/// The flags about a run's data, except --input and --scalar.
inline constexpr Flag kDataFlags[] = {{"layout", "LAYOUT"}, {"elements", "N"},   {"features", "K"},
                                      {"seed", "S"},        {"values", "RANGE"}, {"index-bits", "32|64"},
                                      {"sort-keys"},        {"num-groups", "G"}};
inline constexpr Flag kScalarFlag = {"scalar", "NAME=VALUE", true};
inline constexpr Flag kInputFlags[] = {{"input", "NAME=FILE", true}, kScalarFlag};

/// Returns the files of --input, keyed by parameter name. Of `op`, reads only the name and the parameters.
///
/// Throws InputError if --input is malformed or gives a parameter twice. Throws for a parameter that `op`
/// lacks unless `passes_others` is true: `op` is then a factor of a product, whose other factors may have the
/// parameter.
std::map<std::string, std::string> input_files(const Arguments& arguments, const Operator& op,
                                               bool passes_others = false);

/// Returns the values of --scalar as texts, keyed by the scalar's name. Throws InputError if --scalar is
/// malformed or names no scalar of the operator.
std::map<std::string, std::string> scalar_texts(const Arguments& arguments, const Operator& op);
/// The same for several operators. Each scalar must belong to at least one of them.
std::map<std::string, std::string> scalar_texts(const Arguments& arguments, std::span<const Operator> ops);

/// Throws InputError if --input, --layout or --labels reads one of the files in `written`, which --output
/// writes.
void refuse_to_overwrite_what_is_read(const Arguments& arguments, const Operator& op,
                                      const std::vector<std::string>& written);

/// Returns the data that kDataFlags and, if `with_inputs` is true, kInputFlags describe. Throws InputError if
/// flags are wrong or contradict each other.
WorkloadRequest workload_request(const Arguments& arguments, const Operator& op, bool with_inputs);

/// Throws InputError if the flags do not provide a parameter that cannot be generated. make_workload() checks
/// this too, but only after long work.
void require_given_by_flags(const Operator& op, const WorkloadRequest& request);

/// Describes the value of a scalar that --scalar gives. Shows the value itself, because the flag may hold an
/// expression.
std::string given_scalar_text(const Parameter& scalar, const Array& value);

/// Describes a scalar that the flags do not give: the generated value, its origin, and the flag that sets
/// another value.
std::string made_up_scalar_text(const Parameter& scalar, const Array& value, std::string_view origin);

/// Returns the range of generated values with which the results of an operator's plans can best be compared.
///
/// Most floats are uniform fractions, because products of integers up to 8 overflow in long segments, and
/// infinite results cannot tell plans apart. f16 and bf16 get -1, 0 and 1, because sums of 16-bit fractions
/// depend on the order of addition; sums of these integers are exact up to 2^11 in f16 and 2^8 in bf16. If
/// the operator is idempotent, f16 and bf16 get fractions too, because these reveal more errors.
[[nodiscard]] ValueRange agreeing_values(const Operator& op);

/// Returns the range of values that check and bench generate by default.
///
/// This is small_integers, unless results for these values overflow or underflow, as products do. In this
/// case it is near_one or uniform.
[[nodiscard]] ValueRange suiting_values(const Operator& op);

}  // namespace segfold::cli
