#pragma once
// Literals and expressions of the language as CUDA text, or as C++ for the host.
#include <string>
#include <utility>
#include <vector>

#include "codegen/dialect.h"
#include "codegen/print/cuda_names.h"
#include "dsl/operator.h"

namespace segfold {

/// Prints the expressions of one operator.
///
/// Signed arithmetic that may overflow is printed in unsigned arithmetic, so that it wraps as the language
/// says; f16 and bf16 are computed in float and rounded back after every operation. Parentheses stand where C
/// needs them, and where people do not trust their memory of its precedences: `(a & b) | c`, `(a && b) || c`.
class CudaPrinter {
public:
    /// `checked_tables` are read by gather().
    CudaPrinter(const Operator& op, int index_bits, std::vector<std::string> checked_tables = {},
                Dialect dialect = Dialect::cuda)
        : op_(op),
          index_bits_(index_bits),
          checked_tables_(std::move(checked_tables)),
          is_native_(dialect == Dialect::native)
    {}

    /// The expression as text that initialises a variable of its type, or a field in braces.
    [[nodiscard]] std::string expression(const Expression& expression) const;

private:
    /// Text whose C++ type is the expression's, in parentheses if it binds less tightly than `loosest`.
    [[nodiscard]] std::string value(const Expression& expression, int loosest) const;
    /// The same, but a short literal goes without its suffix if `neighbour` says the type.
    [[nodiscard]] std::string beside(const Expression& expression, const Expression& neighbour,
                                     int loosest) const;
    /// A condition: as value(), but int serves where bool does.
    [[nodiscard]] std::string truth(const Expression& expression, int loosest) const;
    /// A signed value in the unsigned type of its width; arithmetic in it stays there.
    [[nodiscard]] std::string wrapped(const Expression& expression, int loosest) const;
    [[nodiscard]] std::string wrapped_arithmetic(const ExpressionNode& node) const;
    /// An f16 or bf16 value as float; any other value as it is.
    [[nodiscard]] std::string as_float(const Expression& expression, int loosest) const;

    /// The int `text`, hidden from NVRTC, which changes what some arithmetic means; plain elsewhere.
    [[nodiscard]] std::string hide(const std::string& text) const;
    /// The name of a function of floats for `type`.
    [[nodiscard]] std::string function_name(const std::string& function, Type type) const;

    /// The functions below set `level` to the precedence of their text, unless it is a primary expression.
    std::string raw(const Expression& expression, int& level) const;
    std::string number(const ExpressionNode& node, int& level) const;
    std::string conditional(const ExpressionNode& node, int& level) const;
    std::string unary(const ExpressionNode& node, int& level) const;
    std::string binary(const ExpressionNode& node, int& level) const;
    std::string logical(const ExpressionNode& node, int& level) const;
    std::string shift(const ExpressionNode& node, int& level) const;
    std::string divide(const ExpressionNode& node, int& level) const;
    /// A division of whole numbers in f32.
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
