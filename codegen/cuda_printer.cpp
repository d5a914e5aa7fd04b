#include "codegen/cuda_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dsl/half.h"

namespace segfold {
namespace {

constexpr int kUnaryLevel = 11;
constexpr int kPrimaryLevel = 12;

constexpr auto kTaken = std::to_array<std::string_view>({
    // C++
    "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "concept", "const",
    "constexpr", "consteval", "constinit", "continue", "decltype", "default", "delete", "do", "double", "else", "enum",
    "explicit", "export", "extern", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public", "register",
    "requires", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "try",
    "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
    "xor", "main", "char8_t", "char16_t", "char32_t", "co_await", "co_return", "co_yield", "bitand", "bitor", "compl",
    "not_eq", "and_eq", "or_eq", "xor_eq", "dynamic_cast", "static_cast", "const_cast", "reinterpret_cast",
    "static_assert", "thread_local",
    // CUDA
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "signbit", "isinf", "float2", "float4", "double2",
    "int2", "int4", "uint2", "uint3", "uint4", "dim3", "clock", "clock64",
    // macros of the fiber executor's and the compilers' headers
    "linux", "unix", "assert", "errno", "NULL", "EOF",
    // the vocabulary of kernels/
    "Inputs", "Results", "Segments", "State", "Index", "Run", "identity", "inputs", "results", "segments", "load_item",
    "store", "shuffle", "shuffle_up", "shuffle_down", "divide", "remainder", "absolute", "divide_exact",
});

bool is_half(Type type)
{
    return type == Type::f16 || type == Type::bf16;
}

bool is_narrow(Type type)
{
    return is_integer(type) && size_bytes(type) < 4;
}

/// The unsigned type in which a signed one wraps.
Type wrapping_type(Type type)
{
    return type == Type::i64 ? Type::u64 : Type::u32;
}

bool wraps(const ExpressionNode& node)
{
    const bool arithmetic = (node.kind == ExpressionKind::binary || node.kind == ExpressionKind::unary) &&
                            (node.symbol == "+" || node.symbol == "-" || node.symbol == "*");
    return arithmetic && (*node.type == Type::i32 || *node.type == Type::i64);
}

/// "name" of a helper for a type: to_f16, divide_i32.
std::string with_type_name(std::string_view stem, Type type)
{
    return fmt::format("{}_{}", stem, name(type));
}

std::string f32_literal(float value)
{
    auto text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text + "f";
}

std::string f64_literal(double value)
{
    auto text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text;
}

float rounded(Type type, double value)
{
    const auto single = static_cast<float>(value);
    return type == Type::f16    ? f16_to_f32(f32_to_f16(single))
           : type == Type::bf16 ? bf16_to_f32(f32_to_bf16(single))
                                : single;
}

double literal_value(const ExpressionNode& node)
{
    if (node.kind == ExpressionKind::real)
        return node.real;
    return (node.negative ? -1.0 : 1.0) * static_cast<double>(node.magnitude);
}

/// What CUDA calls a function of f32 ("expf") or f64 ("exp").
std::string math_name(const std::string& function, Type type)
{
    const std::string stem = function == "min" ? "fmin" : function == "max" ? "fmax" : function == "abs" ? "fabs" : function;
    return type == Type::f64 ? stem : stem + "f";
}

}  // namespace

std::string cuda_name(Type type)
{
    switch (type) {
    case Type::i32:
        return "int";
    case Type::u32:
        return "unsigned";
    case Type::f32:
        return "float";
    case Type::f64:
        return "double";
    default:
        return std::string(name(type));
    }
}

std::string cuda_identifier(std::string_view name)
{
    const bool constant = name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z';
    const bool generated = name.starts_with("to_") || name.starts_with("divide_") || name.starts_with("remainder_") ||
                           name.starts_with("absolute_") || name.starts_with("segment_") ||
                           name.starts_with("warp_") || name.starts_with("block_") || name.ends_with("_");
    const bool taken = std::ranges::find(kTaken, name) != kTaken.end();
    return std::string(name) + (constant || generated || taken ? "_" : "");
}

std::string CudaPrinter::value(const Expression& expression, int loosest)
{
    int level = kPrimaryLevel;
    auto text = raw(expression, level);
    return level < loosest ? "(" + text + ")" : text;
}

std::string CudaPrinter::raw(const Expression& expression, int& level)
{
    const auto& node = *expression;
    const Type type = *node.type;
    switch (node.kind) {
    case ExpressionKind::boolean:
        return node.magnitude ? "true" : "false";
    case ExpressionKind::integer:
    case ExpressionKind::real:
        if (is_half(type))
            return helper(with_type_name("to", type)) + "(" + f32_literal(rounded(type, literal_value(node))) + ")";
        if (is_float(type)) {
            const double real = literal_value(node);
            level = std::signbit(real) ? kUnaryLevel : kPrimaryLevel;
            return type == Type::f32 ? f32_literal(static_cast<float>(real)) : f64_literal(real);
        }
        return integer(node, level);
    case ExpressionKind::constant: {
        const std::string constant = node.name == "inf" ? "kInfinity" : "kNan";
        if (is_half(type))
            return helper(with_type_name("to", type)) + "(" + helper(constant) + ")";
        return helper(type == Type::f64 ? constant + "F64" : constant);
    }
    case ExpressionKind::limit:
        return limit(node);
    case ExpressionKind::name:
        return name_of(node);
    case ExpressionKind::field:
        return field(node);
    case ExpressionKind::unary:
        return unary(node, level);
    case ExpressionKind::binary:
        return binary(node, level);
    case ExpressionKind::conditional: {
        level = 0;
        auto text = value(node.arguments[0], 1) + " ? " + value(node.arguments[1], 1) + " : " + value(node.arguments[2], 0);
        if (!is_narrow(type))
            return text;
        level = kPrimaryLevel;
        return cuda_name(type) + "(" + text + ")";
    }
    case ExpressionKind::call:
        return call(node);
    case ExpressionKind::convert:
        return convert(node, level);
    case ExpressionKind::gather:
        return cuda_identifier(node.name) + "[" + value(node.arguments[0], 0) + "]";
    }
    throw InternalError("unknown kind of expression");
}

std::string CudaPrinter::integer(const ExpressionNode& node, int& level)
{
    const Type type = *node.type;
    const std::uint64_t lowest_magnitude = std::uint64_t{1} << (size_bytes(type) * 8 - 1);
    if (node.negative && node.magnitude == lowest_magnitude && size_bytes(type) >= 4)
        return helper(type == Type::i32 ? "kLowestI32" : "kLowestI64");
    const auto digits = (node.negative ? "-" : "") + std::to_string(node.magnitude);
    if (is_narrow(type))
        return cuda_name(type) + "(" + digits + ")";
    level = node.negative ? kUnaryLevel : kPrimaryLevel;
    return digits + (type == Type::u32 ? "u" : type == Type::i64 ? "ll" : type == Type::u64 ? "ull" : "");
}

std::string CudaPrinter::limit(const ExpressionNode& node)
{
    const Type type = *node.type;
    const std::string stem = node.name == "lowest" ? "kLowest" : node.name == "highest" ? "kHighest" : "kEpsilon";
    std::string suffix(name(type));
    suffix[0] = static_cast<char>(suffix[0] - 'a' + 'A');
    if (is_half(type))
        return helper(with_type_name("to", type)) + "(" + helper(stem + (type == Type::f16 ? "F16" : "Bf16")) + ")";
    return helper(stem + suffix);
}

/// index, position, segment and length are i64 in the language and Index in CUDA.
std::string CudaPrinter::name_of(const ExpressionNode& node)
{
    constexpr std::array<std::string_view, 4> places = {"index", "position", "segment", "length"};
    if (std::ranges::find(places, node.name) == places.end())
        return cuda_identifier(node.name);
    return index_bits_ == 64 ? node.name : "i64(" + node.name + ")";
}

std::string CudaPrinter::field(const ExpressionNode& node) const
{
    const std::string owner = node.operand == Operand::earlier ? cuda_identifier(op_.earlier)
                              : node.operand == Operand::later ? cuda_identifier(op_.later)
                                                               : "state";
    const bool scalar = op_.state.size() == 1 && op_.has_identity();
    return scalar ? owner : owner + "." + cuda_identifier(node.name);
}

std::string CudaPrinter::as_float(const Expression& expression, int loosest)
{
    const Type type = *expression->type;
    if (!is_half(type))
        return value(expression, loosest);
    if (expression->kind == ExpressionKind::integer || expression->kind == ExpressionKind::real)
        return f32_literal(rounded(type, literal_value(*expression)));
    return helper("to_f32") + "(" + value(expression, 0) + ")";
}

std::string CudaPrinter::unary(const ExpressionNode& node, int& level)
{
    const Type type = *node.type;
    const auto& argument = node.arguments[0];
    if (node.symbol == "!") {
        level = kUnaryLevel;
        return "!" + value(argument, kUnaryLevel);
    }
    if (is_half(type))
        return helper(with_type_name("to", type)) + "(-" + as_float(argument, kUnaryLevel) + ")";
    if (is_narrow(type))
        return cuda_name(type) + "(" + node.symbol + value(argument, kPrimaryLevel) + ")";
    if (node.symbol == "-" && is_signed_integer(type)) {
        const Type wide = wrapping_type(type);
        return cuda_name(type) + "(0" + (type == Type::i64 ? "ull" : "u") + " - " + wrapping(argument, 10) + ")" +
               (wide == Type::u64 ? "" : "");
    }
    level = kUnaryLevel;
    return node.symbol + value(argument, kPrimaryLevel);
}

/// The value in the unsigned type of its width; arithmetic below stays in that type.
std::string CudaPrinter::wrapping(const Expression& expression, int loosest)
{
    const auto& node = *expression;
    const Type wide = wrapping_type(*node.type);
    if (node.kind == ExpressionKind::integer && !node.negative)
        return std::to_string(node.magnitude) + (wide == Type::u64 ? "ull" : "u");
    if (!wraps(node) || node.kind == ExpressionKind::unary)
        return cuda_name(wide) + "(" + value(expression, 0) + ")";
    const int own = precedence(node.symbol);
    const auto text = wrapping(node.arguments[0], own) + " " + node.symbol + " " + wrapping(node.arguments[1], own + 1);
    return own < loosest ? "(" + text + ")" : text;
}

std::string CudaPrinter::binary(const ExpressionNode& node, int& level)
{
    const Type type = *node.type;
    const Type operands = *node.arguments[0]->type;
    const auto& symbol = node.symbol;
    const int own = precedence(symbol);
    if (symbol == "<<" || symbol == ">>")
        return shift(node, level);
    if (is_integer(operands) && (symbol == "/" || symbol == "%"))
        return divide(node, level);
    if (wraps(node)) {
        const auto text =
            wrapping(node.arguments[0], own) + " " + symbol + " " + wrapping(node.arguments[1], own + 1);
        return cuda_name(type) + "(" + text + ")";
    }
    const bool half = is_half(operands);
    const auto left = half ? as_float(node.arguments[0], own) : value(node.arguments[0], own);
    const auto right = half ? as_float(node.arguments[1], own + 1) : value(node.arguments[1], own + 1);
    const auto text = left + " " + symbol + " " + right;
    if (half && is_half(type))
        return helper(with_type_name("to", type)) + "(" + text + ")";
    if (is_narrow(type)) {
        // u16 * u16 overflows the int it is promoted to.
        const bool wide = type == Type::u16 && symbol == "*";
        return cuda_name(type) + "(" + (wide ? "unsigned(" + value(node.arguments[0], 0) + ") * " + right : text) + ")";
    }
    if (type == Type::boolean && (symbol == "&" || symbol == "|" || symbol == "^"))
        return "bool(" + text + ")";
    level = own;
    return text;
}

/// A shift counts modulo the width of its type.
std::string CudaPrinter::shift(const ExpressionNode& node, int& level)
{
    const Type type = *node.type;
    const unsigned width = static_cast<unsigned>(size_bytes(type)) * 8;
    const auto& count = *node.arguments[1];
    const int own = precedence(node.symbol);
    const std::string amount = count.kind == ExpressionKind::integer && !count.negative
                                   ? std::to_string(count.magnitude % width)
                                   : fmt::format("({} & {})", value(node.arguments[1], 6), width - 1);
    if (node.symbol == "<<" && is_signed_integer(type)) {
        const std::string wide = width == 64 ? "u64" : "unsigned";
        return fmt::format("{}({}({}) << {})", cuda_name(type), wide, value(node.arguments[0], 0), amount);
    }
    const auto text = value(node.arguments[0], own) + " " + node.symbol + " " + amount;
    if (is_narrow(type))
        return cuda_name(type) + "(" + text + ")";
    level = own;
    return text;
}

/// Plain where the divisor is a number; elsewhere a function that gives 0 for a divisor of 0.
std::string CudaPrinter::divide(const ExpressionNode& node, int& level)
{
    const Type type = *node.type;
    const auto& divisor = *node.arguments[1];
    const bool plain = divisor.kind == ExpressionKind::integer && !divisor.negative;
    const int own = precedence(node.symbol);
    if (!plain) {
        const auto function = helper(with_type_name(node.symbol == "/" ? "divide" : "remainder", type));
        return function + "(" + value(node.arguments[0], 0) + ", " + value(node.arguments[1], 0) + ")";
    }
    const auto text = value(node.arguments[0], own) + " " + node.symbol + " " + value(node.arguments[1], own + 1);
    if (is_narrow(type))
        return cuda_name(type) + "(" + text + ")";
    level = own;
    return text;
}

std::string CudaPrinter::call(const ExpressionNode& node)
{
    const Type type = *node.arguments[0]->type;
    if (is_integer(type))
        return integer_call(node, type);
    std::string arguments;
    for (const auto& argument : node.arguments)
        arguments += (arguments.empty() ? "" : ", ") + as_float(argument, 0);
    if (node.name == "isnan" || node.name == "isfinite")
        return "bool(" + node.name + "(" + arguments + "))";
    const auto text = math_name(node.name, type) + "(" + arguments + ")";
    return is_half(type) ? helper(with_type_name("to", type)) + "(" + text + ")" : text;
}

std::string CudaPrinter::integer_call(const ExpressionNode& node, Type type)
{
    const bool narrow = is_narrow(type);
    const bool wide = size_bytes(type) == 8;
    const auto first = value(node.arguments[0], 0);
    if (node.name == "min" || node.name == "max") {
        const auto text = node.name + "(" + first + ", " + value(node.arguments[1], 0) + ")";
        return narrow ? cuda_name(type) + "(" + text + ")" : text;
    }
    if (node.name == "abs")
        return is_unsigned_integer(type) ? "(" + first + ")" : helper(with_type_name("absolute", type)) + "(" + first + ")";
    // Narrow values are widened with zeros, whatever their sign.
    const std::string bits = type == Type::i8 ? "u8(" + first + ")" : type == Type::i16 ? "u16(" + first + ")" : first;
    if (node.name == "popcount")
        return std::string(wide ? "__popcll(" : "__popc(") + (type == Type::i64 ? "u64(" + bits + ")" : bits) + ")";
    const auto zeros = std::string(wide ? "__clzll(" : "__clz(") + (wide ? "i64(" : "int(") + bits + "))";
    return narrow ? fmt::format("({} - {})", zeros, 32 - 8 * size_bytes(type)) : zeros;
}

std::string CudaPrinter::convert(const ExpressionNode& node, int& level)
{
    const Type to = *node.type;
    const auto& argument = node.arguments[0];
    const Type from = *argument->type;
    if (to == from)
        return value(argument, kPrimaryLevel);
    if (to == Type::boolean) {
        level = precedence("!=");
        const auto text = as_float(argument, level);
        return text + " != " + (from == Type::f64 ? "0.0" : is_float(from) ? "0.0f" : "0");
    }
    if (is_half(to))
        return helper(with_type_name("to", to)) + "(" + (is_half(from) || from == Type::f32 ? as_float(argument, 0) : "float(" + value(argument, 0) + ")") + ")";
    if (is_float(from) && is_integer(to))
        return helper(with_type_name("to", to)) + "(" + as_float(argument, 0) + ")";
    if (is_half(from))
        return to == Type::f32 ? as_float(argument, 0) : "double(" + as_float(argument, 0) + ")";
    constexpr std::array<std::string_view, 4> places = {"index", "position", "segment", "length"};
    const bool place = argument->kind == ExpressionKind::name && std::ranges::find(places, argument->name) != places.end();
    if (place && to == Type::i32)
        return index_bits_ == 32 ? argument->name : "int(" + argument->name + ")";
    return cuda_name(to) + "(" + value(argument, 0) + ")";
}

}  // namespace segfold
