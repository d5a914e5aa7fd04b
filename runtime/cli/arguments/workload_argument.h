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

/// Returns the files of --input by parameter. Uses only the names of `op` and of its parameters. Throws
/// InputError, also for another name, unless `passes_others`: then `op` is a factor of a product.
std::map<std::string, std::string> input_files(const Arguments& arguments, const Operator& op,
                                               bool passes_others = false);

/// Returns the texts that --scalar gives for the operator's scalars, by name. Throws InputError.
std::map<std::string, std::string> scalar_texts(const Arguments& arguments, const Operator& op);
/// Returns the texts of --scalar for several operators. Each operator may have some of the scalars or none.
std::map<std::string, std::string> scalar_texts(const Arguments& arguments, std::span<const Operator> ops);

/// Throws InputError if a file in `written`, the files that --output writes, is also read by --input,
/// --layout or --labels.
void refuse_to_overwrite_what_is_read(const Arguments& arguments, const Operator& op,
                                      const std::vector<std::string>& written);

/// Reads kDataFlags, and kInputFlags if `with_inputs`. Throws InputError.
WorkloadRequest workload_request(const Arguments& arguments, const Operator& op, bool with_inputs);

/// Calls require_given() as make_workload() will, before long work begins.
void require_given_by_flags(const Operator& op, const WorkloadRequest& request);

/// Returns a report's text for a scalar that --scalar gave: its value, since the user may have written an
/// expression.
std::string given_scalar_text(const Parameter& scalar, const Array& value);

/// Returns a report's text for a scalar that was not given: the value made up, its origin, and how to give
/// another.
std::string made_up_scalar_text(const Parameter& scalar, const Array& value, std::string_view origin);

/// Returns generated values with which plans of an operator can be compared.
///
/// Products of integers up to 8 overflow in long segments, and infinities say nothing about a plan, so floats
/// are uniform. Sums of 16-bit fractions depend on the order of addition, so those types get -1, 0 and 1:
/// their sums are exact up to 2^11 in f16 and 2^8 in bf16. If the operator is idempotent, they get fractions,
/// which reveal more.
[[nodiscard]] ValueRange agreeing_values(const Operator& op);

/// Returns the values that check and bench generate by default.
///
/// These are small_integers, unless their totals leave the normal range of a floating-point type, as products
/// do; then near_one or uniform.
[[nodiscard]] ValueRange suiting_values(const Operator& op);

}  // namespace segfold::cli
