#pragma once
// Reads the operand OP: a standard operator, a .seg file, or an expression.
#include <optional>

#include "dsl/derived.h"
#include "dsl/operator.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The flags that select or define an operator.
inline constexpr Flag kOperatorFlags[] = {{"op", "EXPRESSION"},       {"type", "T"},
                                          {"identity", "EXPRESSION"}, {"lift", "EXPRESSION"},
                                          {"finish", "EXPRESSION"},   {"commutative"}};

/// The flags of the verb scan.
inline constexpr Flag kScanFlags[] = {{"exclusive"}, {"reverse"}};
/// The flags with which other verbs handle an operator's scan instead of its fold. Any one of them suffices.
inline constexpr Flag kScannedFlags[] = {{"scan"}, {"exclusive"}, {"reverse"}};

/// True if the command line names an operator in any way.
bool names_operator(const Arguments& arguments);

/// Returns the kind of scan that the command line requests; nothing if it requests a fold. The verb scan
/// always requests a scan. With other verbs, kScannedFlags do.
std::optional<ScanForm> scan_argument(const Arguments& arguments);

/// Returns the operator of the command line: the operand, or --op with --identity, --lift and --finish. If
/// scan_argument() returns a kind of scan, returns the scanned operator; see scanned().
///
/// An operand that contains a slash or ends in ".seg" is a file. Any other operand is a standard operator or,
/// if there is none of this name, a file. `--type` sets T. Prints warnings() on standard error. Throws
/// InputError or SpecError if the operator is wrong.
Operator operator_argument(const Arguments& arguments);

/// Returns the operators of all operands. One operand may hold several, separated by commas: "sum,argmax".
std::vector<Operator> operator_arguments(const Arguments& arguments);

/// Returns `word` with the path of each operator file replaced by the name of the operator in it, so that the
/// result does not depend on where files are.
std::string own_name(const Operator& op, const std::string& word);

/// Returns an operator's signature, such as "mean_variance(x: f32) -> (mean: f32, variance: f32)".
std::string signature(const Operator& op);

}  // namespace segfold::cli
