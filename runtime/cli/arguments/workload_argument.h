#pragma once
// The data of a run: arrays from files or generated, and the layout that cuts them into segments.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/data/workload_request.h"

namespace segfold::cli {

/// The flags that say what an operator is run on, but for --input.
inline constexpr Flag kDataFlags[] = {{"layout", "LAYOUT"}, {"elements", "N"},   {"features", "K"},
                                      {"seed", "S"},        {"values", "RANGE"}, {"index-bits", "32|64"},
                                      {"sort-keys"}};
inline constexpr Flag kScalarFlag = {"scalar", "NAME=VALUE", true};
inline constexpr Flag kInputFlags[] = {{"input", "NAME=FILE", true}, kScalarFlag};

/// The files of --input, by parameter; only the names of `op` and of its parameters are looked at. Throws
/// InputError.
std::map<std::string, std::string> input_files(const Arguments& arguments, const Operator& op);

/// What --scalar gives the scalars of the operator, by name. Throws InputError.
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

/// What reports say of a scalar that --scalar gave: its value, as an expression may have been written.
std::string given_scalar_text(const Parameter& scalar, const Array& value);

/// What reports say of a scalar that nobody gave: the value that was made up, where it comes from, and how to
/// give another.
std::string made_up_scalar_text(const Parameter& scalar, const Array& value, std::string_view origin);

/// The values over which plans of an operator can be held against each other.
///
/// Products of integers up to 8 overflow in long segments, and infinities tell nothing about a plan: floats
/// are uniform. Sums of fractions in 16 bits depend on the order of addition: those are units, whose sums are
/// exact up to 2^11 in f16 and 2^8 in bf16; not where the operator is idempotent, as then fractions say more.
[[nodiscard]] ValueRange agreeing_values(const Operator& op);

/// The values that check and bench generate where nobody says which: small_integers, unless totals of those
/// leave the normal range of a floating-point type, as products do; then near_one or uniform.
[[nodiscard]] ValueRange suiting_values(const Operator& op);

}  // namespace segfold::cli
