#include "codegen/print/literal_text.h"

#include <fmt/format.h>

#include "dsl/half.h"

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

double literal_value(const ExpressionNode& node)
{
    const double value = node.kind == ExpressionKind::real
                             ? node.real
                             : (node.negative ? -1.0 : 1.0) * static_cast<double>(node.magnitude);
    const auto single = static_cast<float>(value);
    switch (*node.type) {
        case Type::f16:
            return f16_to_f32(f32_to_f16(single));
        case Type::bf16:
            return bf16_to_f32(f32_to_bf16(single));
        default:
            return value;
    }
}

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
