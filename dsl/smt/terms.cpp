#include "dsl/smt/terms.h"

#include <fmt/format.h>

#include <cmath>

#include "dsl/rounding.h"

namespace segfold::smt {
namespace {

/// Returns a finite number as an exact term.
std::string real_literal(double value)
{
    if (!std::isfinite(value))
        throw OutOfReach(std::isnan(value) ? "NaN is no real number" : "infinity is no real number");
    int exponent = 0;
    double mantissa = std::frexp(std::fabs(value), &exponent);
    double denominator = 1;
    while (mantissa != std::trunc(mantissa)) {
        mantissa *= 2;
        --exponent;
    }
    if (exponent >= 0)
        mantissa = std::ldexp(mantissa, exponent);
    else if (exponent >= -1022)
        denominator = std::ldexp(1.0, -exponent);
    else
        throw OutOfReach("a denormal number");
    auto text = fmt::format("{:.1f}", mantissa);
    if (denominator != 1)
        text = fmt::format("(/ {} {:.1f})", text, denominator);
    return value < 0 ? "(- " + text + ")" : text;
}

}  // namespace

std::string apply(std::string_view function, const std::string& a, const std::string& b)
{
    return fmt::format("({} {} {})", function, a, b);
}

std::string_view format_of(Type type)
{
    return type == Type::f16 ? "5 11" : type == Type::bf16 ? "8 8" : type == Type::f32 ? "8 24" : "11 53";
}

std::string_view name(Theory theory)
{
    constexpr std::string_view names[] = {"bit vectors", "integers", "reals", "reals"};
    return names[static_cast<int>(theory)];
}

std::string sort_of(Theory theory, Type type)
{
    if (type == Type::boolean)
        return "Bool";
    if (theory != Theory::bits)
        return is_float(type) || theory == Theory::all_reals ? "Real" : "Int";
    if (is_integer(type))
        return fmt::format("(_ BitVec {})", width_of(type));
    return fmt::format("(_ FloatingPoint {})", format_of(type));
}

std::string bits_literal(Type type, std::uint64_t bits)
{
    const int digits = width_of(type) / 4;
    if (digits < 16)
        bits &= (std::uint64_t{1} << (4 * digits)) - 1;
    return fmt::format("#x{:0{}x}", bits, digits);
}

std::string integer_literal(Type type, std::uint64_t bits)
{
    if (!is_signed_integer(type) || bits >> 63 == 0)
        return fmt::format("{}", bits);
    return fmt::format("(- {})", 0 - bits);
}

std::string in_range_term(Type type, const std::string& a)
{
    const int width = width_of(type);
    if (is_signed_integer(type))
        return fmt::format("(<= (- {0}) {2} {1})", std::uint64_t{1} << (width - 1),
                           (std::uint64_t{1} << (width - 1)) - 1, a);
    return fmt::format("(<= 0 {} {})", a, ~std::uint64_t{0} >> (64 - width));
}

std::string constant_term(Theory theory, const Constant& constant)
{
    if (constant.type == Type::boolean)
        return constant.bits != 0 ? "true" : "false";
    if (is_integer(constant.type) && theory == Theory::all_reals)
        return fmt::format("(to_real {})", integer_literal(constant.type, constant.bits));
    if (is_integer(constant.type))
        return theory == Theory::bits ? bits_literal(constant.type, constant.bits)
                                      : integer_literal(constant.type, constant.bits);
    if (theory != Theory::bits)
        return real_literal(constant.real);
    return fmt::format("((_ to_fp {}) {})", format_of(constant.type),
                       bits_literal(constant.type, bits_of_real(constant.type, constant.real)));
}

std::string_view word_for(Opcode opcode)
{
    constexpr std::pair<Opcode, std::string_view> words[] = {{Opcode::add, "+"},
                                                             {Opcode::subtract, "-"},
                                                             {Opcode::multiply, "*"},
                                                             {Opcode::divide, "/"},
                                                             {Opcode::remainder, "%"},
                                                             {Opcode::bit_and, "&"},
                                                             {Opcode::bit_or, "|"},
                                                             {Opcode::bit_xor, "^"},
                                                             {Opcode::bit_not, "~"},
                                                             {Opcode::shift_left, "<<"},
                                                             {Opcode::shift_right, ">>"},
                                                             {Opcode::square_root, "sqrt"},
                                                             {Opcode::reciprocal_root, "rsqrt"},
                                                             {Opcode::exponential, "exp"},
                                                             {Opcode::exponential2, "exp2"},
                                                             {Opcode::exponential_m1, "expm1"},
                                                             {Opcode::logarithm, "log"},
                                                             {Opcode::logarithm2, "log2"},
                                                             {Opcode::logarithm_1p, "log1p"},
                                                             {Opcode::power, "pow"},
                                                             {Opcode::sine, "sin"},
                                                             {Opcode::cosine, "cos"},
                                                             {Opcode::hyperbolic_tangent, "tanh"},
                                                             {Opcode::multiply_add, "fma"},
                                                             {Opcode::copy_sign, "copysign"},
                                                             {Opcode::count_ones, "popcount"},
                                                             {Opcode::leading_zeros, "clz"},
                                                             {Opcode::gather, "a table"}};
    for (const auto& [known, word] : words)
        if (known == opcode)
            return word;
    return "an operation";
}

}  // namespace segfold::smt
