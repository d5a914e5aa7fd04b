#pragma once
// Prints expressions of the language as CUDA, or as C++ for the host.
#include <string>
#include <utility>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/print/cuda_names.h"
#include "dsl/operator.h"

namespace segfold {

/// Prints the expressions of one operator.
///
/// Signed arithmetic that may overflow is printed as unsigned arithmetic, so that it wraps as the language
/// requires. f16 and bf16 are computed in float and rounded after every operation. Parentheses are printed if
/// C needs them, and also if people easily misread its precedences: `(a & b) | c`, `(a && b) || c`.
class CudaPrinter {
public:
    /// Reads of `checked_tables` are printed as calls of gather(), which checks the index.
    CudaPrinter(const Operator& op, int index_bits, std::vector<std::string> checked_tables = {},
                Dialect dialect = Dialect::cuda)
        : op_(op),
          index_bits_(index_bits),
          checked_tables_(std::move(checked_tables)),
          is_native_(dialect == Dialect::native)
    {}

    /// Prints an expression in a form that can initialise a variable of its type, or a field in braces.
    [[nodiscard]] std::string expression(const Expression& expression) const;

private:
    /// Prints the expression as C++ of the expression's type. Adds parentheses if the printed text has a
    /// precedence below `loosest`.
    [[nodiscard]] std::string value(const Expression& expression, int loosest) const;
    /// Prints an operand like value(). Omits the suffix of a short literal if the other operand, `neighbour`,
    /// determines the type.
    [[nodiscard]] std::string beside(const Expression& expression, const Expression& neighbour,
                                     int loosest) const;
    /// Prints a condition like value(), except that the text may be an int in place of a bool.
    [[nodiscard]] std::string truth(const Expression& expression, int loosest) const;
    /// Prints a signed value converted to the unsigned type of the same width. Arithmetic in the value is
    /// unsigned.
    [[nodiscard]] std::string wrapped(const Expression& expression, int loosest) const;
    [[nodiscard]] std::string wrapped_arithmetic(const ExpressionNode& node) const;
    /// Prints an f16 or bf16 value as float, and any other value unchanged.
    [[nodiscard]] std::string as_float(const Expression& expression, int loosest) const;

    /// Wraps the int expression `text` in opaque(), because NVRTC would otherwise change the meaning of some
    /// arithmetic. Returns native text unchanged.
    [[nodiscard]] std::string hide(const std::string& text) const;
    /// Returns the C++ or CUDA name of `function` for the float type `type`.
    [[nodiscard]] std::string function_name(const std::string& function, Type type) const;

    /// The functions below set `level` to the precedence of the printed text. If the text is a primary
    /// expression, such as a call, they leave `level` unchanged.
    std::string raw(const Expression& expression, int& level) const;
    std::string number(const ExpressionNode& node, int& level) const;
    std::string conditional(const ExpressionNode& node, int& level) const;
    std::string unary(const ExpressionNode& node, int& level) const;
    std::string binary(const ExpressionNode& node, int& level) const;
    std::string logical(const ExpressionNode& node, int& level) const;
    std::string shift(const ExpressionNode& node, int& level) const;
    std::string divide(const ExpressionNode& node, int& level) const;
    /// Prints a division of two f32 values that are whole numbers; see is_whole_division().
    [[nodiscard]] std::string divide_whole(const ExpressionNode& node) const;
    std::string convert(const ExpressionNode& node, int& level) const;
    std::string integer_call(const ExpressionNode& node, int& level) const;
    [[nodiscard]] std::string real_call(const ExpressionNode& node) const;
    [[nodiscard]] std::string field(const ExpressionNode& node) const;
    [[nodiscard]] std::string gather(const ExpressionNode& node) const;

    const Operator& op_;
    int index_bits_;
    std::vector<std::string> checked_tables_;
    bool is_native_;
};

}  // namespace segfold
