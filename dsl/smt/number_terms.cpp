// SMT terms of operations on unbounded integers and on real numbers.
#include <fmt/format.h>

#include <bit>

#include "dsl/smt/terms.h"

namespace segfold::smt {
namespace {

/// Returns 2^count as a term. Powers of two express shifts and bit operations on unbounded integers.
std::string power_of_two(const Constant* count, Type type, Opcode opcode)
{
    const auto width = size_bytes(type) * 8;
    if (count == nullptr)
        throw OutOfReach(fmt::format("'{}' by what is no constant, of unbounded integers", word_for(opcode)));
    const auto shift = count->bits & (width - 1);
    return fmt::format("{}", std::uint64_t{1} << shift);
}

}  // namespace

std::string integer_term(Opcode opcode, Type type, const std::string& a, const std::string& b,
                         const Constant* b_constant)
{
    switch (opcode) {
        case Opcode::add: return apply("+", a, b);
        case Opcode::subtract: return apply("-", a, b);
        case Opcode::multiply: return apply("*", a, b);
        case Opcode::divide:  // rounds toward zero
            return fmt::format(
                "(ite (= {1} 0) 0 (ite (= (>= {0} 0) (> {1} 0)) (div (abs {0}) (abs {1})) "
                "(- (div (abs {0}) (abs {1})))))",
                a, b);
        case Opcode::remainder:  // has the sign of the left operand
            return fmt::format(
                "(ite (= {1} 0) {0} (ite (>= {0} 0) (mod {0} (abs {1})) (- (mod (- {0}) (abs {1})))))", a, b);
        case Opcode::bit_and:  // only for a mask of low bits
            if (b_constant != nullptr && std::has_single_bit(b_constant->bits + 1))
                return fmt::format("(mod {} {})", a, b_constant->bits + 1);
            break;
        case Opcode::bit_not:
            if (is_signed_integer(type))
                return fmt::format("(- (- {}) 1)", a);
            break;
        case Opcode::shift_left: return apply("*", a, power_of_two(b_constant, type, opcode));
        case Opcode::shift_right: return apply("div", a, power_of_two(b_constant, type, opcode));
        case Opcode::equal: return apply("=", a, b);
        case Opcode::not_equal: return apply("distinct", a, b);
        case Opcode::less: return apply("<", a, b);
        case Opcode::less_equal: return apply("<=", a, b);
        case Opcode::negate: return fmt::format("(- {})", a);
        case Opcode::minimum: return fmt::format("(ite (< {0} {1}) {0} {1})", a, b);
        case Opcode::maximum: return fmt::format("(ite (< {0} {1}) {1} {0})", a, b);
        case Opcode::absolute: return fmt::format("(abs {})", a);
        default: break;
    }
    throw OutOfReach(fmt::format("'{}' of unbounded integers", word_for(opcode)));
}

std::string real_term(Opcode opcode, const std::string& a, const std::string& b, const std::string& c)
{
    switch (opcode) {
        case Opcode::add: return apply("+", a, b);
        case Opcode::subtract: return apply("-", a, b);
        case Opcode::multiply: return apply("*", a, b);
        case Opcode::divide: return apply("/", a, b);
        case Opcode::multiply_add: return fmt::format("(+ (* {} {}) {})", a, b, c);
        case Opcode::negate: return fmt::format("(- {})", a);
        case Opcode::minimum: return fmt::format("(ite (< {0} {1}) {0} {1})", a, b);
        case Opcode::maximum: return fmt::format("(ite (< {0} {1}) {1} {0})", a, b);
        case Opcode::absolute: return fmt::format("(ite (< {0} 0.0) (- {0}) {0})", a);
        case Opcode::floor: return fmt::format("(to_real (to_int {}))", a);
        case Opcode::ceiling: return fmt::format("(- (to_real (to_int (- {}))))", a);
        case Opcode::round:  // halves go away from zero
            return fmt::format(
                "(ite (< {0} 0.0) (- (to_real (to_int (+ (- {0}) 0.5)))) (to_real (to_int (+ {0} 0.5))))", a);
        case Opcode::equal: return apply("=", a, b);
        case Opcode::not_equal: return apply("distinct", a, b);
        case Opcode::less: return apply("<", a, b);
        case Opcode::less_equal: return apply("<=", a, b);
        case Opcode::is_nan: return "false";
        case Opcode::is_finite: return "true";
        case Opcode::copy_sign: throw OutOfReach("'copysign' tells -0 from 0, which the reals do not");
        default: return "";
    }
}

std::string relaxed_term(Opcode opcode, const std::string& a, const std::string& b)
{
    switch (opcode) {
        case Opcode::add:
        case Opcode::subtract:
        case Opcode::multiply:
        case Opcode::negate:
        case Opcode::minimum:
        case Opcode::maximum:
        case Opcode::absolute:
        case Opcode::equal:
        case Opcode::not_equal:
        case Opcode::less:
        case Opcode::less_equal: return real_term(opcode, a, b, "");
        default: throw OutOfReach(fmt::format("'{}' of real numbers", word_for(opcode)));
    }
}

std::string number_conversion(Type from, Type to, const std::string& a)
{
    if (from == to)
        return a;
    if (from == Type::boolean)
        return is_float(to) ? fmt::format("(ite {} 1.0 0.0)", a) : fmt::format("(ite {} 1 0)", a);
    if (to == Type::boolean)
        return apply("distinct", a, is_float(from) ? "0.0" : "0");
    if (is_float(from) == is_float(to))
        return a;
    if (is_float(to))
        return fmt::format("(to_real {})", a);
    return fmt::format("(ite (< {0} 0.0) (- (to_int (- {0}))) (to_int {0}))", a);
}

}  // namespace segfold::smt
