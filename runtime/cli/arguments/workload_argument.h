#pragma once
// The data of a run: arrays from files or generated, and the layout that cuts them into segments.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/data/workload_request.h"

namespace segfold::cli {

/// The flags that give an operator its data, except --input.
inline constexpr Flag kDataFlags[] = {{"layout", "LAYOUT"}, {"elements", "N"},   {"features", "K"},
                                      {"seed", "S"},        {"values", "RANGE"}, {"index-bits", "32|64"},
                                      {"sort-keys"}};
inline constexpr Flag kScalarFlag = {"scalar", "NAME=VALUE", true};
inline constexpr Flag kInputFlags[] = {{"input", "NAME=FILE", true}, kScalarFlag};

/// The files of --input, by parameter; only the names of `op` and of its parameters are looked at. Throws
/// InputError.
std::map<std::string, std::string> input_files(const Arguments& arguments, const Operator& op);

/// Values of --scalar, by name. Throws InputError.
std::map<std::string, std::string> scalar_texts(const Arguments& arguments, const Operator& op);
/// The same of several operators, of which each has some of them or none.
std::map<std::string, std::string> scalar_texts(const Arguments& arguments, std::span<const Operator> ops);

/// Throws InputError where one of `written`, the files that --output leads to, is a file that --input,
/// --layout or --labels reads.
void refuse_to_overwrite_what_is_read(const Arguments& arguments, const Operator& op,
                                      const std::vector<std::string>& written);

/// Reads kDataFlags, and kInputFlags where the verb has them. Throws InputError.
WorkloadRequest workload_request(const Arguments& arguments, const Operator& op, bool with_inputs);

/// require_given() before long work begins: as make_workload() will call it.
void require_given_by_flags(const Operator& op, const WorkloadRequest& request);

/// Text of reports on a scalar of --scalar: its value, because an expression may have been given.
std::string given_scalar_text(const Parameter& scalar, const Array& value);

/// Text of reports on a scalar that nobody gave: the value made up, its origin, and how to give another.
std::string made_up_scalar_text(const Parameter& scalar, const Array& value, std::string_view origin);

/// Generated values on which plans of an operator can be compared.
///
/// Products of integers up to 8 overflow in long segments, and infinities tell nothing about a plan: floats
/// are uniform. Sums of fractions in 16 bits depend on the order of addition: those are units, whose sums are
/// exact up to 2^11 in f16 and 2^8 in bf16; not where the operator is idempotent, as then fractions say more.
[[nodiscard]] ValueRange agreeing_values(const Operator& op);

/// The values that check and bench generate by default: small_integers, unless totals of those leave the
/// normal range of a floating-point type, as products do; then near_one or uniform.
[[nodiscard]] ValueRange suiting_values(const Operator& op);

}  // namespace segfold::cli
