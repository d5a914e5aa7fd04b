#pragma once
// Types, literals and expressions of the language as CUDA text.
#include <set>
#include <string>
#include <string_view>

#include "dsl/operator.h"

namespace segfold {

/// How CUDA text calls a type; the names that need a `using` line are those of the language.
std::string cuda_name(Type type);

/// A user's name as it may stand in CUDA text: with an underscore behind it where CUDA, C++ or the vocabulary of
/// kernels/ has taken the name.
std::string cuda_identifier(std::string_view name);

/// Prints expressions and remembers what their text relies on.
///
/// Signed arithmetic that may overflow is printed in unsigned arithmetic, so that it wraps as the language says.
class CudaPrinter {
public:
    CudaPrinter(const Operator& op, int index_bits) : op_(op), index_bits_(index_bits) {}

    /// The expression as text whose C++ type is cuda_name of its type.
    std::string expression(const Expression& expression) { return value(expression, 0); }

    /// The literal zero-argument value of a type's identity elements and the like, with its type.
    [[nodiscard]] const std::set<std::string>& helpers() const { return helpers_; }

private:
    std::string value(const Expression& expression, int loosest);
    std::string raw(const Expression& expression, int& level);
    std::string integer(const ExpressionNode& node, int& level);
    std::string limit(const ExpressionNode& node);
    std::string name_of(const ExpressionNode& node);
    std::string field(const ExpressionNode& node) const;
    std::string unary(const ExpressionNode& node, int& level);
    std::string binary(const ExpressionNode& node, int& level);
    std::string wrapping(const Expression& expression, int loosest);
    std::string shift(const ExpressionNode& node, int& level);
    std::string divide(const ExpressionNode& node, int& level);
    std::string call(const ExpressionNode& node);
    std::string integer_call(const ExpressionNode& node, Type type);
    std::string convert(const ExpressionNode& node, int& level);
    /// An f16 or bf16 value as float; any other value as it is.
    std::string as_float(const Expression& expression, int loosest);
    std::string helper(const std::string& name)
    {
        helpers_.insert(name);
        return name;
    }

    const Operator& op_;
    int index_bits_;
    std::set<std::string> helpers_;
};

}  // namespace segfold
