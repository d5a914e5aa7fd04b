#pragma once
// Reads the operand OP: a standard operator, a .seg file, or an expression.
#include <optional>

#include "dsl/operator.h"
#include "dsl/rewrite/scanned.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The flags that choose or write an operator.
inline constexpr Flag kOperatorFlags[] = {{"op", "EXPRESSION"},       {"type", "T"},
                                          {"identity", "EXPRESSION"}, {"lift", "EXPRESSION"},
                                          {"finish", "EXPRESSION"},   {"commutative"}};

/// How the verb scan scans.
inline constexpr Flag kScanFlags[] = {{"exclusive"}, {"reverse"}};
/// How a verb that judges, prints or times operators takes running results of one. Each of them asks for
/// these.
inline constexpr Flag kScannedFlags[] = {{"scan"}, {"exclusive"}, {"reverse"}};

/// True if the command line names an operator in any way.
bool names_operator(const Arguments& arguments);

/// How the command line scans its operators: always for the verb scan, by kScannedFlags for others. Nothing
/// if it folds them as they are.
std::optional<ScanForm> scan_argument(const Arguments& arguments);

/// Returns the operator that the command line names: the operand, or --op and its companions. Where
/// scan_argument() is set, it is the operator whose running results are those of the one named.
///
/// An operand with a slash or ending in ".seg" is a file. Others are first looked up as standard operators,
/// then as files. `--type` sets T. Writes warnings() to standard error. Throws InputError, SpecError.
Operator operator_argument(const Arguments& arguments);

/// Returns several operators if the operand names several, separated by commas: "sum,argmax".
std::vector<Operator> operator_arguments(const Arguments& arguments);

/// Returns a word of the operand with each file replaced by the name of its operator, so it does not depend
/// on where files are.
std::string own_name(const Operator& op, const std::string& word);

/// Returns text such as "mean_variance(x: f32) -> (mean: f32, variance: f32)".
std::string signature(const Operator& op);

}  // namespace segfold::cli
