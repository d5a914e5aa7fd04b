#pragma once
// Reads the operand OP: a standard operator, a .seg file, or an expression.
#include "dsl/operator.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The flags that choose or write an operator.
inline constexpr Flag kOperatorFlags[] = {{"op", "EXPRESSION"},       {"type", "T"},
                                          {"identity", "EXPRESSION"}, {"lift", "EXPRESSION"},
                                          {"finish", "EXPRESSION"},   {"commutative"}};

inline constexpr Flag kScanFlags[] = {{"exclusive"}, {"reverse"}};

/// True if the command line names an operator in any way.
bool names_operator(const Arguments& arguments);

/// Returns the operator that the command line names: the operand, or --op and its companions.
///
/// An operand with a slash or ending in ".seg" is a file. Others are first looked up as standard operators,
/// then as files. `--type` sets T. Writes warnings() to standard error. Throws InputError, SpecError.
Operator operator_argument(const Arguments& arguments);

/// Returns the operator that a run folds: operator_argument(). For the verb scan, whose flags are kScanFlags,
/// it is the operator whose running results are those of that one.
Operator folded_operator(const Arguments& arguments);

/// Returns several operators if the operand names several, separated by commas: "sum,argmax".
std::vector<Operator> operator_arguments(const Arguments& arguments);

/// Returns a word of the operand with each file replaced by the name of its operator, so it does not depend
/// on where files are.
std::string own_name(const Operator& op, const std::string& word);

/// Returns text such as "mean_variance(x: f32) -> (mean: f32, variance: f32)".
std::string signature(const Operator& op);

}  // namespace segfold::cli
