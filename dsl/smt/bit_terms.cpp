// SMT terms of operations with the machine's rounding and wrapping. Integers are words of fixed width, floats
// are IEEE 754.
#include <fmt/format.h>

#include <cmath>

#include "dsl/smt/terms.h"

namespace segfold::smt {
namespace {

std::string literal(Type type, std::uint64_t value) { return bits_literal(type, value); }

std::string bool_term(Opcode opcode, const std::string& a, const std::string& b)
{
    switch (opcode) {
        case Opcode::bit_and: return apply("and", a, b);
        case Opcode::bit_or: return apply("or", a, b);
        case Opcode::bit_xor:
        case Opcode::not_equal: return apply("xor", a, b);
        case Opcode::equal: return apply("=", a, b);
        case Opcode::logical_not:
        case Opcode::bit_not: return fmt::format("(not {})", a);
        default: throw OutOfReach(fmt::format("'{}' of bools", word_for(opcode)));
    }
}

/// Returns the number of set bits, as an i32 term.
std::string count_ones_term(Type type, const std::string& a)
{
    std::string sum = "#x00000000";
    for (int bit = 0; bit < width_of(type); ++bit)
        sum = fmt::format("(bvadd {} ((_ zero_extend 31) ((_ extract {} {}) {})))", sum, bit, bit, a);
    return sum;
}

std::string leading_zeros_term(Type type, const std::string& a)
{
    const int width = width_of(type);
    auto zeros = literal(Type::i32, static_cast<std::uint64_t>(width));
    for (int bit = 0; bit < width; ++bit)
        zeros = fmt::format("(ite (= ((_ extract {} {}) {}) #b1) {} {})", bit, bit, a,
                            literal(Type::i32, static_cast<std::uint64_t>(width - 1 - bit)), zeros);
    return zeros;
}

/// Returns the lesser of two floats if `least` is true, else the greater. A number wins against NaN, and -0
/// is less than 0.
std::string extreme_term(const std::string& a, const std::string& b, bool least)
{
    const auto& first = least ? a : b;
    const auto& second = least ? b : a;
    return fmt::format(
        "(ite (fp.isNaN {0}) {1} (ite (fp.isNaN {1}) {0} (ite (fp.eq {0} {1}) (ite (fp.isNegative {0}) {2} "
        "{3}) "
        "(ite (fp.lt {0} {1}) {2} {3}))))",
        a, b, first, second);
}

std::string real_constant(Type type, double value)
{
    return constant_term(Theory::bits, {0, type, 0, value});
}

std::string float_to_integer(Type from, Type to, const std::string& a)
{
    const int width = width_of(to);
    const bool is_signed = is_signed_integer(to);
    if (from == Type::f16 || from == Type::bf16) {  // via f32, which holds the ends of all integer types
        const auto wide = fmt::format("((_ to_fp 8 24) RNE {})", a);
        return float_to_integer(Type::f32, to, wide);
    }
    const double end = std::ldexp(1.0, is_signed ? width - 1 : width);
    const auto highest = ~std::uint64_t{0} >> (64 - width + (is_signed ? 1 : 0));
    const auto lowest = is_signed ? ~highest : 0;
    return fmt::format(
        "(ite (fp.isNaN {0}) {1} (ite (fp.geq {0} {2}) {3} (ite (fp.leq {0} {4}) {5} ((_ {6} {7}) RTZ "
        "{0}))))",
        a, literal(to, 0), real_constant(from, end), literal(to, highest),
        real_constant(from, is_signed ? -end : -0.0), literal(to, lowest),
        is_signed ? "fp.to_sbv" : "fp.to_ubv", width);
}

}  // namespace

std::string word_term(Opcode opcode, Type type, const std::string& a, const std::string& b)
{
    if (type == Type::boolean)
        return bool_term(opcode, a, b);
    const bool is_signed = is_signed_integer(type);
    const auto choose = [&](std::string_view with_sign, std::string_view without) {
        return apply(is_signed ? with_sign : without, a, b);
    };
    const auto shift = apply("bvand", b, literal(type, static_cast<std::uint64_t>(width_of(type) - 1)));
    const auto zero = literal(type, 0);
    switch (opcode) {
        case Opcode::add: return apply("bvadd", a, b);
        case Opcode::subtract: return apply("bvsub", a, b);
        case Opcode::multiply: return apply("bvmul", a, b);
        case Opcode::divide:
            return fmt::format("(ite (= {} {}) {} {})", b, zero, zero, choose("bvsdiv", "bvudiv"));
        case Opcode::remainder:
            return fmt::format("(ite (= {} {}) {} {})", b, zero, a, choose("bvsrem", "bvurem"));
        case Opcode::bit_and: return apply("bvand", a, b);
        case Opcode::bit_or: return apply("bvor", a, b);
        case Opcode::bit_xor: return apply("bvxor", a, b);
        case Opcode::bit_not: return fmt::format("(bvnot {})", a);
        case Opcode::shift_left: return apply("bvshl", a, shift);
        case Opcode::shift_right: return apply(is_signed ? "bvashr" : "bvlshr", a, shift);
        case Opcode::equal: return apply("=", a, b);
        case Opcode::not_equal: return apply("distinct", a, b);
        case Opcode::less: return choose("bvslt", "bvult");
        case Opcode::less_equal: return choose("bvsle", "bvule");
        case Opcode::negate: return fmt::format("(bvneg {})", a);
        case Opcode::minimum: return fmt::format("(ite {} {} {})", choose("bvslt", "bvult"), a, b);
        case Opcode::maximum: return fmt::format("(ite {} {} {})", choose("bvslt", "bvult"), b, a);
        case Opcode::absolute:
            return is_signed ? fmt::format("(ite (bvslt {0} {1}) (bvneg {0}) {0})", a, zero) : a;
        case Opcode::count_ones: return count_ones_term(type, a);
        case Opcode::leading_zeros: return leading_zeros_term(type, a);
        default: throw OutOfReach(fmt::format("'{}' of integers", word_for(opcode)));
    }
}

std::string float_term(Opcode opcode, Type type, const std::string& a, const std::string& b,
                       const std::string& c)
{
    const auto rounded = [&](std::string_view function) {
        return fmt::format("({} RNE {} {})", function, a, b);
    };
    switch (opcode) {
        // The language computes f16 and bf16 in f32 and rounds the result again. These terms round once. Both
        // give equal values, because f32 has enough bits (24).
        case Opcode::add: return rounded("fp.add");
        case Opcode::subtract: return rounded("fp.sub");
        case Opcode::multiply: return rounded("fp.mul");
        case Opcode::divide: return rounded("fp.div");
        case Opcode::square_root: return fmt::format("(fp.sqrt RNE {})", a);
        case Opcode::multiply_add:
            if (type == Type::f16 || type == Type::bf16)
                break;
            return fmt::format("(fp.fma RNE {} {} {})", a, b, c);
        case Opcode::floor: return fmt::format("(fp.roundToIntegral RTN {})", a);
        case Opcode::ceiling: return fmt::format("(fp.roundToIntegral RTP {})", a);
        case Opcode::round: return fmt::format("(fp.roundToIntegral RNA {})", a);
        case Opcode::negate: return fmt::format("(fp.neg {})", a);
        case Opcode::absolute: return fmt::format("(fp.abs {})", a);
        case Opcode::minimum: return extreme_term(a, b, true);
        case Opcode::maximum: return extreme_term(a, b, false);
        case Opcode::equal: return apply("fp.eq", a, b);
        case Opcode::not_equal: return fmt::format("(not (fp.eq {} {}))", a, b);
        case Opcode::less: return apply("fp.lt", a, b);
        case Opcode::less_equal: return apply("fp.leq", a, b);
        case Opcode::is_nan: return fmt::format("(fp.isNaN {})", a);
        case Opcode::is_finite: return fmt::format("(not (or (fp.isNaN {0}) (fp.isInfinite {0})))", a);
        default: break;
    }
    throw OutOfReach(fmt::format("'{}' of {}, bit for bit", word_for(opcode), name(type)));
}

std::string bits_conversion(Type from, Type to, const std::string& a)
{
    if (from == to)
        return a;
    if (is_float(to) && (to == Type::f16 || to == Type::bf16) && from != Type::f32 && from != Type::boolean)
        return bits_conversion(Type::f32, to, bits_conversion(from, Type::f32, a));
    if (from == Type::boolean && is_float(to))
        return fmt::format("(ite {} {} {})", a, real_constant(to, 1), real_constant(to, 0));
    if (from == Type::boolean)
        return fmt::format("(ite {} {} {})", a, literal(to, 1), literal(to, 0));
    if (to == Type::boolean)
        return is_float(from) ? fmt::format("(not (fp.isZero {}))", a)
                              : fmt::format("(distinct {} {})", a, literal(from, 0));
    if (is_float(from) && is_float(to))
        return fmt::format("((_ to_fp {}) RNE {})", format_of(to), a);
    if (is_float(to))
        return fmt::format("((_ {} {}) RNE {})", is_signed_integer(from) ? "to_fp" : "to_fp_unsigned",
                           format_of(to), a);
    if (is_float(from))
        return float_to_integer(from, to, a);
    const int more = width_of(to) - width_of(from);
    if (more == 0)
        return a;
    if (more < 0)
        return fmt::format("((_ extract {} 0) {})", width_of(to) - 1, a);
    return fmt::format("((_ {} {}) {})", is_signed_integer(from) ? "sign_extend" : "zero_extend", more, a);
}

}  // namespace segfold::smt
