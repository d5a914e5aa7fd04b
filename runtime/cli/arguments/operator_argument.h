#pragma once
// The operand OP: a standard operator, a .seg file, or an expression.
#include "dsl/operator.h"
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The flags by which an operator is chosen or written.
inline constexpr Flag kOperatorFlags[] = {{"op", "EXPRESSION"},       {"type", "T"},
                                          {"identity", "EXPRESSION"}, {"lift", "EXPRESSION"},
                                          {"finish", "EXPRESSION"},   {"commutative"}};

/// True if the command line names an operator in some way.
bool names_operator(const Arguments& arguments);

/// The operator that the command line names: the operand, or --op and its companions.
///
/// An operand with a slash, or that ends in ".seg", is a file; others are standard operators first, then
/// files. `--type` names T. Writes warnings() to standard error. Throws InputError, SpecError.
Operator operator_argument(const Arguments& arguments);

/// The same where the operand may name several, with commas between them: "sum,argmax".
std::vector<Operator> operator_arguments(const Arguments& arguments);

/// A word of the operand as it names the operator wherever its file lies: the operator's own name where the
/// word, or a factor of it, is a file.
std::string own_name(const Operator& op, const std::string& word);

/// "mean_variance(x: f32) -> (mean: f32, variance: f32)"
std::string signature(const Operator& op);

}  // namespace segfold::cli
