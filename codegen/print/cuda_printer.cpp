#include "codegen/print/cuda_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "codegen/print/literal_text.h"
#include "codegen/print/opaque.h"
#include "codegen/print/quick_exp.h"
#include "codegen/print/whole_division.h"

namespace segfold {
namespace {

constexpr int kUnaryLevel = 11, kPrimaryLevel = 12;

/// Greatest int. Literals up to this value need no suffix next to a value of a wider type.
constexpr std::uint64_t kHighestInt = 0x7fffffff;

bool is_bitwise(const std::string& symbol) { return symbol == "&" || symbol == "|" || symbol == "^"; }
bool is_shift(const std::string& symbol) { return symbol == "<<" || symbol == ">>"; }

bool is_comparison(const std::string& symbol)
{
    constexpr std::array<std::string_view, 6> symbols = {"==", "!=", "<", "<=", ">", ">="};
    return std::ranges::find(symbols, symbol) != symbols.end();
}

/// Returns the lowest precedence at which `operand` needs no parentheses as the left or right operand of
/// `symbol`.
int operand_level(const std::string& symbol, const Expression& operand, bool right)
{
    const auto& inner = operand->symbol;
    const bool mixed =
        inner != symbol && (is_bitwise(symbol) || is_shift(symbol) || (symbol == "||" && inner == "&&"));
    const bool chained = is_comparison(symbol) && is_comparison(inner);
    if (operand->kind == ExpressionKind::binary && (mixed || chained))
        return kPrimaryLevel;
    return precedence(symbol) + (right ? 1 : 0);
}

/// Returns the unsigned type in which arithmetic on a signed type is computed, so that overflow wraps.
Type wrapping_type(Type type) { return size_bytes(type) == 8 ? Type::u64 : Type::u32; }

/// True for signed arithmetic that may overflow. Types of 8 and 16 bits are computed in int, which holds
/// every result.
bool wraps(const ExpressionNode& node)
{
    const bool arithmetic = (node.kind == ExpressionKind::binary || node.kind == ExpressionKind::unary) &&
                            (node.symbol == "+" || node.symbol == "-" || node.symbol == "*");
    return arithmetic && (*node.type == Type::i32 || *node.type == Type::i64);
}

bool is_test(const ExpressionNode& node)
{
    return node.kind == ExpressionKind::call && (node.name == "isnan" || node.name == "isfinite");
}

bool is_short_integer(const ExpressionNode& node)
{
    return node.kind == ExpressionKind::integer && is_integer(*node.type) && node.magnitude <= kHighestInt;
}

std::string digits(const ExpressionNode& node)
{
    return (node.negative ? "-" : "") + std::to_string(node.magnitude);
}

/// Appends the type's name to the stem, as in to_f16 or divide_i32.
std::string with_type_name(std::string_view stem, Type type)
{
    return fmt::format("{}_{}", stem, name(type));
}

/// Returns CUDA's name of a function of floats: for exp, "expf" for f32 and "exp" for f64.
std::string math_name(const std::string& function, Type type)
{
    const std::string stem = function == "min"   ? "fmin"
                             : function == "max" ? "fmax"
                             : function == "abs" ? "fabs"
                                                 : function;
    return type == Type::f64 ? stem : stem + "f";
}

}  // namespace

std::string CudaPrinter::expression(const Expression& expression) const
{
    return is_short_integer(*expression) ? digits(*expression) : value(expression, 0);
}

std::string CudaPrinter::value(const Expression& expression, int loosest) const
{
    int level = kPrimaryLevel;
    auto text = raw(expression, level);
    return level < loosest ? "(" + text + ")" : text;
}

std::string CudaPrinter::beside(const Expression& expression, const Expression& neighbour, int loosest) const
{
    const auto& node = *expression;
    const bool typed = is_narrow(*node.type) || neighbour->kind != ExpressionKind::integer;
    if (!typed || !is_short_integer(node))
        return value(expression, loosest);
    return node.negative && loosest > kUnaryLevel ? "(" + digits(node) + ")" : digits(node);
}

std::string CudaPrinter::hide(const std::string& text) const { return is_native_ ? text : opaque(text); }

std::string CudaPrinter::function_name(const std::string& function, Type type) const
{
    if (!is_native_)
        return function == "exp" && type != Type::f64 && rounds_to_halves(op_) ? "quick_exp"
                                                                               : math_name(function, type);
    const auto real = type == Type::f64 ? type : Type::f32;
    if (function == "min" || function == "max")
        return with_type_name(function == "min" ? "least" : "greatest", real);
    return function == "rsqrt" ? with_type_name(function, real) : "__builtin_" + math_name(function, type);
}

std::string CudaPrinter::truth(const Expression& expression, int loosest) const
{
    return is_test(*expression) ? real_call(*expression) : value(expression, loosest);
}

std::string CudaPrinter::raw(const Expression& expression, int& level) const
{
    const auto& node = *expression;
    switch (node.kind) {
        case ExpressionKind::boolean: return node.magnitude ? "true" : "false";
        case ExpressionKind::integer:
        case ExpressionKind::real: return number(node, level);
        case ExpressionKind::constant:
        case ExpressionKind::limit:
            return is_half(*node.type) ? with_type_name("to", *node.type) + "(" + constant_of(node) + ")"
                                       : constant_of(node);
        case ExpressionKind::name:
            return is_place(node) && index_bits_ == 32 ? "i64(" + node.name + ")"
                                                       : cuda_identifier(node.name);
        case ExpressionKind::field: return field(node);
        case ExpressionKind::unary: return unary(node, level);
        case ExpressionKind::binary: return binary(node, level);
        case ExpressionKind::conditional: return conditional(node, level);
        case ExpressionKind::call:
            if (is_test(node))
                return "bool(" + real_call(node) + ")";
            return is_integer(*node.arguments[0]->type) ? integer_call(node, level) : real_call(node);
        case ExpressionKind::convert: return convert(node, level);
        case ExpressionKind::gather: return gather(node);
    }
    throw InternalError("unknown kind of expression");
}

std::string CudaPrinter::number(const ExpressionNode& node, int& level) const
{
    const Type type = *node.type;
    if (is_float(type)) {
        const double real = literal_value(node);
        const auto text = type == Type::f64 ? real_literal(real) : real_literal(static_cast<float>(real));
        if (is_half(type))
            return with_type_name("to", type) + "(" + text + ")";
        level = std::signbit(real) ? kUnaryLevel : kPrimaryLevel;
        return text;
    }
    // C++ has no literal for the lowest value. It would read a minus sign and a literal that is too large.
    if (node.negative && node.magnitude == std::uint64_t{1} << (size_bytes(type) * 8 - 1) &&
        size_bytes(type) >= 4)
        return type == Type::i32 ? "kLowestI32" : "kLowestI64";
    if (is_narrow(type))
        return cuda_name(type) + "(" + digits(node) + ")";
    level = node.negative ? kUnaryLevel : kPrimaryLevel;
    return digits(node) + (type == Type::u32   ? "u"
                           : type == Type::i64 ? "ll"
                           : type == Type::u64 ? "ull"
                                               : "");
}

std::string CudaPrinter::conditional(const ExpressionNode& node, int& level) const
{
    level = 0;
    const auto& yes = node.arguments[1];
    const auto& no = node.arguments[2];
    const auto branch = [&](const Expression& expression, const Expression& other, int loosest) {
        return is_narrow(*node.type) ? value(expression, loosest) : beside(expression, other, loosest);
    };
    return truth(node.arguments[0], 1) + " ? " + branch(yes, no, 1) + " : " + branch(no, yes, 0);
}

std::string CudaPrinter::field(const ExpressionNode& node) const
{
    const std::string owner = node.operand == Operand::earlier ? cuda_identifier(op_.earlier)
                              : node.operand == Operand::later ? cuda_identifier(op_.later)
                                                               : "state";
    const bool scalar = op_.state.size() == 1 && op_.has_identity();
    return scalar ? owner : owner + "." + cuda_identifier(node.name);
}

std::string CudaPrinter::gather(const ExpressionNode& node) const
{
    const auto& index = node.arguments[0];
    const auto table = cuda_identifier(node.name);
    const auto place = is_place(*index) ? index->name : value(index, 0);
    if (std::ranges::find(checked_tables_, node.name) == checked_tables_.end())
        return table + "[" + place + "]";
    return "gather(" + table + ", " + (*index->type == Type::u64 ? "i64(" + place + ")" : place) + ")";
}

std::string CudaPrinter::as_float(const Expression& expression, int loosest) const
{
    const auto& node = *expression;
    if (!is_half(*node.type))
        return value(expression, loosest);
    if (node.kind == ExpressionKind::integer || node.kind == ExpressionKind::real) {
        const auto single = static_cast<float>(literal_value(node));
        const bool loose = std::signbit(single) && loosest > kUnaryLevel;
        return loose ? "(" + real_literal(single) + ")" : real_literal(single);
    }
    if (node.kind == ExpressionKind::constant || node.kind == ExpressionKind::limit)
        return constant_of(node);
    return "to_f32(" + value(expression, 0) + ")";
}

std::string CudaPrinter::unary(const ExpressionNode& node, int& level) const
{
    const Type type = *node.type;
    const auto& argument = node.arguments[0];
    if (is_half(type))
        return with_type_name("to", type) + "(-" + as_float(argument, kPrimaryLevel) + ")";
    if (wraps(node))
        return cuda_name(type) + "(" + wrapped_arithmetic(node) + ")";
    if (is_narrow(type))
        return cuda_name(type) + "(" + hide(node.symbol + value(argument, kPrimaryLevel)) + ")";
    level = kUnaryLevel;
    // `- -x` must not become `--x`, and `~(-x)` reads better than `~-x`.
    return node.symbol + (node.symbol == "!" ? truth(argument, kUnaryLevel) : value(argument, kPrimaryLevel));
}

std::string CudaPrinter::wrapped(const Expression& expression, int loosest) const
{
    const auto& node = *expression;
    const Type wide = wrapping_type(*node.type);
    if (node.kind == ExpressionKind::integer && !node.negative)
        return std::to_string(node.magnitude) + (wide == Type::u64 ? "ull" : "u");
    if (wraps(node)) {
        const auto text = wrapped_arithmetic(node);
        return precedence(node.symbol) < loosest ? "(" + text + ")" : text;
    }
    // Only the low bits of the value matter, so a conversion from another integer type may be skipped.
    const bool converts = node.kind == ExpressionKind::convert && !is_float(*node.arguments[0]->type);
    const auto& argument = converts ? node.arguments[0] : expression;
    if (converts && *argument->type == *node.type)
        return wrapped(argument, loosest);
    if (*argument->type == wide)
        return value(argument, loosest);
    const auto text = is_place(*argument) ? argument->name : value(argument, 0);
    const bool hidden =
        converts && (is_narrow(*argument->type) || (wide == Type::u64 && may_wrap(op_, argument)));
    return cuda_name(wide) + "(" + (hidden ? hide(text) : text) + ")";
}

/// Prints an operation whose operands are converted to unsigned types.
std::string CudaPrinter::wrapped_arithmetic(const ExpressionNode& node) const
{
    const int own = precedence(node.symbol);
    if (node.kind == ExpressionKind::unary)
        return (wrapping_type(*node.type) == Type::u64 ? "0ull - " : "0u - ") +
               wrapped(node.arguments[0], own + 1);
    const auto operand = [&](const Expression& expression, const Expression& neighbour, int loosest) {
        const bool typed = neighbour->kind != ExpressionKind::integer;
        return typed && is_short_integer(*expression) ? digits(*expression) : wrapped(expression, loosest);
    };
    const auto& left = node.arguments[0];
    const auto& right = node.arguments[1];
    return operand(left, right, own) + " " + node.symbol + " " + operand(right, left, own + 1);
}

std::string CudaPrinter::binary(const ExpressionNode& node, int& level) const
{
    const Type type = *node.type;
    const auto& left = node.arguments[0];
    const auto& right = node.arguments[1];
    const Type operands = *left->type;
    const auto& symbol = node.symbol;
    if (is_shift(symbol))
        return shift(node, level);
    if (operands == Type::boolean)
        return logical(node, level);
    if (is_integer(operands) && (symbol == "/" || symbol == "%"))
        return divide(node, level);
    if (wraps(node))
        return cuda_name(type) + "(" + wrapped_arithmetic(node) + ")";
    if (!is_native_ && is_whole_division(node))
        return divide_whole(node);
    const int left_level = operand_level(symbol, left, false);
    const int right_level = operand_level(symbol, right, true);
    if (is_half(operands)) {
        const auto text = as_float(left, left_level) + " " + symbol + " " + as_float(right, right_level);
        level = precedence(symbol);
        if (!is_half(type))
            return text;
        level = kPrimaryLevel;
        return with_type_name("to", type) + "(" + text + ")";
    }
    // The product of two u16 overflows int, the type to which C++ promotes them.
    const bool overflows = type == Type::u16 && symbol == "*";
    // NVRTC may turn a comparison of a sum into a wrong test for zero; see opaque.h.
    const bool tests_zero = !is_native_ && is_narrow(operands) && is_comparison(symbol) &&
                            (is_unsigned_integer(operands) || symbol == "==" || symbol == "!=");
    const auto operand = [&](const Expression& expression, const Expression& neighbour, int loosest) {
        return tests_zero && may_be_sum(op_, expression) ? hide(value(expression, 0))
                                                         : beside(expression, neighbour, loosest);
    };
    const auto text = (overflows ? "unsigned(" + value(left, 0) + ")" : operand(left, right, left_level)) +
                      " " + symbol + " " + operand(right, left, right_level);
    if (is_narrow(type))
        return cuda_name(type) + "(" + (may_negate(symbol) ? hide(text) : text) + ")";
    level = precedence(symbol);
    return text;
}

/// Prints an operation on bools.
std::string CudaPrinter::logical(const ExpressionNode& node, int& level) const
{
    const auto& symbol = node.symbol;
    const bool any_truth = symbol == "&&" || symbol == "||";
    const auto operand = [&](const Expression& expression, bool right) {
        const int loosest = operand_level(symbol, expression, right);
        return any_truth ? truth(expression, loosest) : value(expression, loosest);
    };
    const auto text =
        operand(node.arguments[0], false) + " " + symbol + " " + operand(node.arguments[1], true);
    if (is_bitwise(symbol))
        return "bool(" + text + ")";
    level = precedence(symbol);
    return text;
}

/// Prints a shift. The shift count is taken modulo the width of the type.
std::string CudaPrinter::shift(const ExpressionNode& node, int& level) const
{
    const Type type = *node.type;
    const auto width = static_cast<unsigned>(size_bytes(type)) * 8;
    const auto& shifted = node.arguments[0];
    const auto& count = node.arguments[1];
    const std::uint64_t known = count->negative ? 0 - count->magnitude : count->magnitude;
    const std::string amount =
        count->kind == ExpressionKind::integer
            ? std::to_string(known % width)
            : fmt::format("({} & {})", value(count, operand_level("&", count, false)), width - 1);
    const int loosest = operand_level(node.symbol, shifted, false);
    if (node.symbol == "<<" && is_signed_integer(type)) {
        const auto text = wrapped(shifted, loosest) + " << " + amount;
        return cuda_name(type) + "(" + (is_narrow(type) ? hide(text) : text) + ")";
    }
    const auto text = value(shifted, loosest) + " " + node.symbol + " " + amount;
    if (is_narrow(type))
        return cuda_name(type) + "(" + text + ")";
    level = precedence(node.symbol);
    return text;
}

/// Prints a plain division if the divisor is a positive literal, else a call of a function that handles the
/// divisors 0 and -1.
std::string CudaPrinter::divide(const ExpressionNode& node, int& level) const
{
    const Type type = *node.type;
    const auto& left = node.arguments[0];
    const auto& right = node.arguments[1];
    if (right->kind != ExpressionKind::integer || right->negative)
        return fmt::format("{}({}, {})", with_type_name(node.symbol == "/" ? "divide" : "remainder", type),
                           value(left, 0), value(right, 0));
    const auto text = beside(left, right, operand_level(node.symbol, left, false)) + " " + node.symbol + " " +
                      beside(right, left, operand_level(node.symbol, right, true));
    if (is_narrow(type))
        return cuda_name(type) + "(" + text + ")";
    level = precedence(node.symbol);
    return text;
}

std::string CudaPrinter::divide_whole(const ExpressionNode& node) const
{
    const auto& left = node.arguments[0];
    const auto divisor = value(node.arguments[1], 0);
    if (left->kind != ExpressionKind::convert && literal_value(*left) == 1)
        return "divide_one(" + divisor + ")";
    return "divide_whole(" + value(left, 0) + ", " + divisor + ")";
}

/// Prints a function of floats. CUDA's isnan and isfinite return int.
std::string CudaPrinter::real_call(const ExpressionNode& node) const
{
    const Type type = *node.arguments[0]->type;
    const bool folds = !is_native_ && (node.name == "min" || node.name == "max") &&
                       may_be_constants(op_, node.arguments[0], node.arguments[1]);
    std::string arguments;
    for (const auto& argument : node.arguments) {
        const auto text = as_float(argument, 0);
        const bool hidden = folds && arguments.empty();
        arguments +=
            (arguments.empty() ? "" : ", ") +
            (hidden ? with_type_name("opaque", type == Type::f64 ? type : Type::f32) + "(" + text + ")"
                    : text);
    }
    if (is_test(node))
        return (is_native_ ? "__builtin_" : "") + node.name + "(" + arguments + ")";
    const auto text = function_name(node.name, type) + "(" + arguments + ")";
    return is_half(type) ? with_type_name("to", type) + "(" + text + ")" : text;
}

std::string CudaPrinter::integer_call(const ExpressionNode& node, int& level) const
{
    const auto& first = node.arguments[0];
    const Type type = *first->type;
    const bool narrow = is_narrow(type);
    const bool wide = size_bytes(type) == 8;
    if (node.name == "min" || node.name == "max") {
        const auto& second = node.arguments[1];
        const auto called =
            is_native_ ? with_type_name(node.name == "min" ? "least" : "greatest", narrow ? Type::i32 : type)
                       : node.name;
        const auto text = called + "(" + (narrow ? beside(first, second, 0) : value(first, 0)) + ", " +
                          (narrow ? beside(second, first, 0) : value(second, 0)) + ")";
        return narrow ? cuda_name(type) + "(" + text + ")" : text;
    }
    if (node.name == "abs")
        return is_unsigned_integer(type) ? raw(first, level)
                                         : with_type_name("absolute", type) + "(" + value(first, 0) + ")";
    // Extends 8-bit and 16-bit values with zero bits, even if they are negative.
    const auto widened = type == Type::i8    ? "u8(" + value(first, 0) + ")"
                         : type == Type::i16 ? "u16(" + value(first, 0) + ")"
                                             : value(first, 0);
    // NVRTC may also turn a count of bits into a test for zero.
    const auto bits = narrow && may_be_sum(op_, first) ? hide(widened) : widened;
    if (is_native_ && node.name == "popcount")
        return std::string(wide ? "__builtin_popcountll(" : "__builtin_popcount(") + bits + ")";
    if (node.name == "popcount")
        return std::string(wide ? "__popcll(" : "__popc(") + bits + ")";
    const auto* count = is_native_ ? (wide ? "leading_zeros_u64(" : "leading_zeros_u32(")
                        : wide     ? "__clzll("
                                   : "__clz(";
    const auto zeros = count + bits + ")";
    if (!narrow)
        return zeros;
    level = precedence("-");
    return fmt::format("{} - {}", zeros, 32 - 8 * size_bytes(type));
}

std::string CudaPrinter::convert(const ExpressionNode& node, int& level) const
{
    const Type to = *node.type;
    const auto& argument = node.arguments[0];
    const Type from = *argument->type;
    if (to == from)
        return raw(argument, level);
    // NVRTC may turn a conversion to bool or to float into a test for zero; see opaque.h.
    const bool tests_zero =
        !is_native_ && (to == Type::boolean || is_float(to)) && is_narrow(from) && may_be_sum(op_, argument);
    const auto plain = is_place(*argument) ? argument->name
                       : is_float(from)    ? as_float(argument, 0)
                       : tests_zero        ? hide(value(argument, 0))
                                           : value(argument, 0);
    if (to == Type::boolean) {
        level = precedence("!=");
        const auto left = is_place(*argument) || tests_zero
                              ? plain
                              : as_float(argument, operand_level("!=", argument, false));
        return left + " != " + (from == Type::f64 ? "0.0" : is_float(from) ? "0.0f" : "0");
    }
    if (is_half(to)) {
        const bool single = is_half(from) || from == Type::f32;
        return with_type_name("to", to) + "(" + (single ? plain : "float(" + plain + ")") + ")";
    }
    if (is_float(from) && is_integer(to))
        return with_type_name("to", to) + "(" + plain + ")";
    if (is_half(from) && to == Type::f32)
        return plain;
    const bool is_index = is_place(*argument) && to == Type::i32 && index_bits_ == 32;
    if (is_index)
        return plain;
    if (is_integer(to) && size_bytes(to) == 8 && may_wrap(op_, argument))
        return cuda_name(to) + "(" + hide(plain) + ")";
    if (!is_integer(to) || !is_integer(from) || is_narrow(to) == is_narrow(from))
        return cuda_name(to) + "(" + plain + ")";
    if (is_native_)
        return cuda_name(to) + "(" + plain + ")";
    // True if the argument is an int in C++ or is promoted to int.
    const bool is_int = from == Type::i32 || is_narrow(from) || (is_place(*argument) && index_bits_ == 32);
    const auto hidden = hide(is_int ? plain : "int(" + plain + ")");
    return to == Type::i32 ? hidden : cuda_name(to) + "(" + hidden + ")";
}

}  // namespace segfold
