#include "codegen/print/literal_text.h"

#include <fmt/format.h>

namespace segfold {
namespace {

template <class Real>
std::string shortest(Real value)
{
    auto text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text + (sizeof(Real) == sizeof(float) ? "f" : "");
}

}  // namespace

std::string real_literal(float value) { return shortest(value); }
std::string real_literal(double value) { return shortest(value); }

double literal_value(const ExpressionNode& node) { return rounded_literal(node, *node.type); }

std::string constant_of(const ExpressionNode& node)
{
    const Type type = *node.type;
    if (node.kind == ExpressionKind::constant)
        return (node.name == "inf" ? "kInfinity" : "kNan") + std::string(type == Type::f64 ? "F64" : "");
    std::string suffix(name(type));
    suffix[0] = static_cast<char>(suffix[0] - 'a' + 'A');
    return (node.name == "lowest" ? "kLowest" : node.name == "highest" ? "kHighest" : "kEpsilon") + suffix;
}

}  // namespace segfold
