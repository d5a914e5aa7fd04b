#pragma once
// Reads the operand OP: a standard operator, a .seg file, or an expression.
#include <optional>

#include "dsl/derived.h"
#include "dsl/operator.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The flags that choose or write an operator.
inline constexpr Flag kOperatorFlags[] = {{"op", "EXPRESSION"},       {"type", "T"},
                                          {"identity", "EXPRESSION"}, {"lift", "EXPRESSION"},
                                          {"finish", "EXPRESSION"},   {"commutative"}};

/// The flags of the verb scan.
inline constexpr Flag kScanFlags[] = {{"exclusive"}, {"reverse"}};
/// The flags with which verbs that judge, print or time operators use running results instead of a fold. Each
/// of these flags alone requests running results.
inline constexpr Flag kScannedFlags[] = {{"scan"}, {"exclusive"}, {"reverse"}};

/// True if the command line names an operator in any way.
bool names_operator(const Arguments& arguments);

/// Returns the kind of scan that the command line requests; nothing if it requests a fold. The verb scan
/// always requests a scan; for other verbs, kScannedFlags request it.
std::optional<ScanForm> scan_argument(const Arguments& arguments);

/// Returns the operator that the command line names: the operand, or --op with --identity, --lift and
/// --finish. If scan_argument() returns a kind of scan, returns the operator for its running results; see
/// scanned().
///
/// An operand with a slash or ending in ".seg" is a file. Any other operand is a standard operator or else a
/// file. `--type` sets T. Writes warnings() to standard error. Throws InputError, SpecError.
Operator operator_argument(const Arguments& arguments);

/// Returns the operators that the operands name, also separated by commas: "sum,argmax".
std::vector<Operator> operator_arguments(const Arguments& arguments);

/// Returns a word of the operand with each file's path replaced by the name of the file's operator. The
/// result does not depend on the places of files.
std::string own_name(const Operator& op, const std::string& word);

/// Returns an operator's name, parameters and results, such as "mean_variance(x: f32) -> (mean: f32,
/// variance: f32)".
std::string signature(const Operator& op);

}  // namespace segfold::cli
