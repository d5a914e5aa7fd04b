#pragma once
// Runs bytecode, and so defines the meaning of every operation of the language.
//
// All functions are constexpr templates over the floating-point type `Real`. The same code thus serves the
// reference (in working precision, or with every float held in long double) and Thrust's functors on a GPU.
#include <cmath>
#include <cstdint>

#include "dsl/evaluation/bytecode.h"
#include "dsl/half.h"

namespace segfold {

/// One scalar. Integers and bools are kept sign- or zero-extended in `bits`, f16, bf16 and f32 in `single`,
/// f64 in `real`. With a wide `Real`, every float is kept in `real`.
template <class Real>
union Slot {
    std::uint64_t bits;
    float single;
    Real real;
};

/// A table as the interpreter reads it.
struct TableView {
    const void* data;
    std::int64_t length;
};

/// The outcome of running a program. A read outside of a table stops the program.
struct Outcome {
    bool failed = false;
    std::uint16_t table = 0;
    std::int64_t index = 0;
    Type index_type = Type::i64;  ///< u64: `index` holds the bits of an unsigned number
};

/// Keeps the low bits of an integer that its type has, and extends them to 64 bits.
constexpr std::uint64_t wrap(Type type, std::uint64_t bits)
{
    switch (type) {
        case Type::boolean: return bits & 1;
        case Type::i8:
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(bits)));
        case Type::i16:
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int16_t>(bits)));
        case Type::i32:
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(bits)));
        case Type::u8: return bits & 0xffu;
        case Type::u16: return bits & 0xffffu;
        case Type::u32: return bits & 0xffffffffu;
        default: return bits;
    }
}

/// Divides integers. x / 0 is 0 and x % 0 is x, so x == x / y * y + x % y always holds. lowest / -1 wraps.
constexpr std::uint64_t divide_integers(Type type, std::uint64_t x, std::uint64_t y, bool remainder)
{
    if (y == 0)
        return remainder ? x : 0;
    if (!is_signed_integer(type))
        return remainder ? x % y : x / y;
    if (static_cast<std::int64_t>(y) == -1)
        return remainder ? 0 : wrap(type, 0 - x);
    const auto a = static_cast<std::int64_t>(x);
    const auto b = static_cast<std::int64_t>(y);
    return static_cast<std::uint64_t>(remainder ? a % b : a / b);
}

constexpr std::uint64_t count_ones(std::uint64_t bits)
{
    std::uint64_t count = 0;
    for (; bits != 0; bits &= bits - 1)
        ++count;
    return count;
}

/// Number of clear bits above the highest set bit, within the type's width; the width itself for 0.
constexpr std::uint64_t leading_zeros(Type type, std::uint64_t bits)
{
    const unsigned width = static_cast<unsigned>(size_bytes_of_type(type)) * 8;
    if (width < 64)
        bits &= (std::uint64_t{1} << width) - 1;
    std::uint64_t count = width;
    for (; bits != 0; bits >>= 1)
        --count;
    return count;
}

/// Runs one integer or bool operation.
constexpr std::uint64_t run_integer(Opcode opcode, Type type, std::uint64_t x, std::uint64_t y)
{
    const bool is_signed = is_signed_integer(type);
    const std::uint64_t flip = is_signed ? std::uint64_t{1} << 63 : 0;  // maps signed order to unsigned order
    const unsigned width = static_cast<unsigned>(size_bytes_of_type(type)) * 8;
    const auto shift = static_cast<unsigned>(y) & (width - 1);  // the shift count is taken modulo the width
    switch (opcode) {
        case Opcode::add: return wrap(type, x + y);
        case Opcode::subtract: return wrap(type, x - y);
        case Opcode::multiply: return wrap(type, x * y);
        case Opcode::divide: return divide_integers(type, x, y, false);
        case Opcode::remainder: return divide_integers(type, x, y, true);
        case Opcode::bit_and: return x & y;
        case Opcode::bit_or: return x | y;
        case Opcode::bit_xor: return x ^ y;
        case Opcode::bit_not: return wrap(type, ~x);
        case Opcode::shift_left: return wrap(type, x << shift);
        case Opcode::shift_right:
            return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> shift) : x >> shift;
        case Opcode::equal: return x == y;
        case Opcode::not_equal: return x != y;
        case Opcode::less: return (x ^ flip) < (y ^ flip);
        case Opcode::less_equal: return (x ^ flip) <= (y ^ flip);
        case Opcode::negate: return wrap(type, 0 - x);
        case Opcode::logical_not: return x == 0;
        case Opcode::minimum: return (x ^ flip) < (y ^ flip) ? x : y;
        case Opcode::maximum: return (x ^ flip) < (y ^ flip) ? y : x;
        case Opcode::absolute: return is_signed && (x >> 63) ? wrap(type, 0 - x) : x;
        case Opcode::count_ones: return count_ones(width < 64 ? x & ((std::uint64_t{1} << width) - 1) : x);
        case Opcode::leading_zeros: return leading_zeros(type, x);
        default: return 0;
    }
}

/// The lesser of two values. A number wins against NaN, and -0 is less than 0. The order is total, so min and
/// max are associative and commutative.
template <class Real>
constexpr Real least(Real x, Real y)
{
    if (x != x)
        return y;
    if (y != y)
        return x;
    if (x == y)
        return std::signbit(x) ? x : y;
    return x < y ? x : y;
}

template <class Real>
constexpr Real greatest(Real x, Real y)
{
    if (x != x)
        return y;
    if (y != y)
        return x;
    if (x == y)
        return std::signbit(x) ? y : x;
    return x < y ? y : x;
}

/// Runs one floating-point operation whose value is floating-point.
template <class Real>
constexpr Real run_real(Opcode opcode, Real x, Real y, Real z)
{
    switch (opcode) {
        case Opcode::add: return x + y;
        case Opcode::subtract: return x - y;
        case Opcode::multiply: return x * y;
        case Opcode::divide: return x / y;
        case Opcode::negate: return -x;
        case Opcode::minimum: return least(x, y);
        case Opcode::maximum: return greatest(x, y);
        case Opcode::absolute: return std::fabs(x);
        case Opcode::square_root: return std::sqrt(x);
        case Opcode::reciprocal_root: return Real(1) / std::sqrt(x);
        case Opcode::exponential: return std::exp(x);
        case Opcode::exponential2: return std::exp2(x);
        case Opcode::exponential_m1: return std::expm1(x);
        case Opcode::logarithm: return std::log(x);
        case Opcode::logarithm2: return std::log2(x);
        case Opcode::logarithm_1p: return std::log1p(x);
        case Opcode::power: return std::pow(x, y);
        case Opcode::sine: return std::sin(x);
        case Opcode::cosine: return std::cos(x);
        case Opcode::hyperbolic_tangent: return std::tanh(x);
        case Opcode::floor: return std::floor(x);
        case Opcode::ceiling: return std::ceil(x);
        case Opcode::round: return std::round(x);
        case Opcode::multiply_add: return std::fma(x, y, z);
        case Opcode::copy_sign: return std::copysign(x, y);
        default: return x;
    }
}

/// Runs one comparison or test of floating-point values.
template <class Real>
constexpr bool run_test(Opcode opcode, Real x, Real y)
{
    switch (opcode) {
        case Opcode::equal: return x == y;
        case Opcode::not_equal: return x != y;
        case Opcode::less: return x < y;
        case Opcode::less_equal: return x <= y;
        case Opcode::is_nan: return x != x;
        default: return x - x == Real(0);  // is_finite: inf - inf and nan - nan are nan
    }
}

constexpr bool is_test(Opcode opcode)
{
    return (opcode >= Opcode::equal && opcode <= Opcode::less_equal) || opcode == Opcode::is_nan ||
           opcode == Opcode::is_finite;
}

/// Converts a value to an integer, rounding toward zero. A value outside the type's range becomes the nearest
/// end of the range, and NaN becomes 0. As a bool, only 0 is false.
template <class Real>
constexpr std::uint64_t real_to_integer(Type type, Real value)
{
    if (type == Type::boolean)
        return value != Real(0);
    if (value != value)
        return 0;
    const unsigned width = static_cast<unsigned>(size_bytes_of_type(type)) * 8;
    if (is_signed_integer(type)) {
        const Real end = static_cast<Real>(std::uint64_t{1} << (width - 1));
        const std::uint64_t lowest = ~std::uint64_t{0} << (width - 1);
        if (value >= end)
            return ~lowest;
        return value <= -end ? lowest : static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    }
    const Real end = Real(2) * static_cast<Real>(std::uint64_t{1} << (width - 1));
    if (value >= end)
        return ~std::uint64_t{0} >> (64 - width);
    return value <= Real(0) ? 0 : static_cast<std::uint64_t>(value);
}

/// Rounds a value computed in f32 to the 16-bit formats.
constexpr float round_single(Type type, float value)
{
    if (type == Type::f16)
        return f16_to_f32(f32_to_f16(value));
    if (type == Type::bf16)
        return bf16_to_f32(f32_to_bf16(value));
    return value;
}

/// Reads and writes slots of any type. With a wide Real, nothing is rounded.
template <class Real>
struct Machine {
    static constexpr bool kWide = sizeof(Real) > sizeof(double);
    using Value = Slot<Real>;

    static constexpr bool in_single(Type type) { return !kWide && type != Type::f64; }

    static constexpr void set_real(Value& slot, Type type, Real value)
    {
        if (in_single(type))
            slot.single = round_single(type, static_cast<float>(value));
        else
            slot.real = value;
    }
    static constexpr Real get_real(const Value& slot, Type type)
    {
        return in_single(type) ? static_cast<Real>(slot.single) : slot.real;
    }

    /// Sets a slot to a constant, rounded to the constant's type even in wide precision.
    static constexpr void set_constant(Value& slot, const Constant& constant)
    {
        if (constant.type == Type::f64)
            slot.real = static_cast<Real>(constant.real);
        else if (is_float(constant.type))
            set_real(slot, constant.type,
                     static_cast<Real>(round_single(constant.type, static_cast<float>(constant.real))));
        else
            slot.bits = constant.bits;
    }

    /// Reads element `i` of an array of `type`.
    static constexpr void load(Value& slot, Type type, const void* data, std::int64_t i)
    {
        switch (type) {
            case Type::boolean: slot.bits = static_cast<const std::uint8_t*>(data)[i] != 0; break;
            case Type::i8:
            case Type::u8: slot.bits = wrap(type, static_cast<const std::uint8_t*>(data)[i]); break;
            case Type::i16:
            case Type::u16: slot.bits = wrap(type, static_cast<const std::uint16_t*>(data)[i]); break;
            case Type::i32:
            case Type::u32: slot.bits = wrap(type, static_cast<const std::uint32_t*>(data)[i]); break;
            case Type::i64:
            case Type::u64: slot.bits = static_cast<const std::uint64_t*>(data)[i]; break;
            case Type::f16:
                set_real(slot, type,
                         static_cast<Real>(f16_to_f32(static_cast<const std::uint16_t*>(data)[i])));
                break;
            case Type::bf16:
                set_real(slot, type,
                         static_cast<Real>(bf16_to_f32(static_cast<const std::uint16_t*>(data)[i])));
                break;
            case Type::f32:
                set_real(slot, type, static_cast<Real>(static_cast<const float*>(data)[i]));
                break;
            case Type::f64:
                set_real(slot, type, static_cast<Real>(static_cast<const double*>(data)[i]));
                break;
        }
    }

    /// Writes element `i` of an array of `type`. Rounds wide values to the type.
    static constexpr void store(const Value& slot, Type type, void* data, std::int64_t i)
    {
        switch (type) {
            case Type::boolean:
            case Type::i8:
            case Type::u8: static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(slot.bits); break;
            case Type::i16:
            case Type::u16:
                static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(slot.bits);
                break;
            case Type::i32:
            case Type::u32:
                static_cast<std::uint32_t*>(data)[i] = static_cast<std::uint32_t>(slot.bits);
                break;
            case Type::i64:
            case Type::u64: static_cast<std::uint64_t*>(data)[i] = slot.bits; break;
            case Type::f16:
                static_cast<std::uint16_t*>(data)[i] = f32_to_f16(static_cast<float>(get_real(slot, type)));
                break;
            case Type::bf16:
                static_cast<std::uint16_t*>(data)[i] = f32_to_bf16(static_cast<float>(get_real(slot, type)));
                break;
            case Type::f32: static_cast<float*>(data)[i] = static_cast<float>(get_real(slot, type)); break;
            case Type::f64: static_cast<double*>(data)[i] = static_cast<double>(get_real(slot, type)); break;
        }
    }

    static constexpr void convert(Value& out, const Value& in, Type from, Type to)
    {
        if (is_float(from) && is_float(to)) {
            set_real(out, to, get_real(in, from));
        } else if (is_float(from)) {
            out.bits = real_to_integer(to, get_real(in, from));
        } else if (is_float(to)) {
            // Converts to f32 directly, not through f64, so that it rounds once.
            if (in_single(to))
                out.single = round_single(to, is_signed_integer(from)
                                                  ? static_cast<float>(static_cast<std::int64_t>(in.bits))
                                                  : static_cast<float>(in.bits));
            else
                out.real = is_signed_integer(from) ? static_cast<Real>(static_cast<std::int64_t>(in.bits))
                                                   : static_cast<Real>(in.bits);
        } else {
            out.bits = to == Type::boolean ? in.bits != 0 : wrap(to, in.bits);
        }
    }

    static constexpr void run_float(const Instruction& step, Value* slots)
    {
        auto& out = slots[step.out];
        if (in_single(step.type)) {
            const float x = slots[step.a].single;
            const float y = slots[step.b].single;
            if (is_test(step.opcode))
                out.bits = run_test(step.opcode, x, y);
            else
                out.single = round_single(step.type, run_real(step.opcode, x, y, slots[step.c].single));
        } else {
            const Real x = slots[step.a].real;
            const Real y = slots[step.b].real;
            if (is_test(step.opcode))
                out.bits = run_test(step.opcode, x, y);
            else
                out.real = run_real(step.opcode, x, y, slots[step.c].real);
        }
    }

    /// Runs `code` over `slots`. Inputs and constants must be in their slots.
    static constexpr Outcome run(const Instruction* code, int num_instructions, Value* slots,
                                 const TableView* tables)
    {
        for (int at = 0; at < num_instructions; ++at) {
            const Instruction step = code[at];
            switch (step.opcode) {
                case Opcode::copy: slots[step.out] = slots[step.a]; break;
                case Opcode::select:
                    slots[step.out] = slots[step.a].bits ? slots[step.b] : slots[step.c];
                    break;
                case Opcode::convert: convert(slots[step.out], slots[step.a], step.type, step.target); break;
                case Opcode::gather: {
                    const auto index = static_cast<std::int64_t>(slots[step.a].bits);
                    if (index < 0 || index >= tables[step.b].length)
                        return {true, step.b, index, step.type};
                    load(slots[step.out], step.target, tables[step.b].data, index);
                    break;
                }
                case Opcode::jump: at = step.out - 1; break;
                case Opcode::jump_unless:
                    if (!slots[step.a].bits)
                        at = step.out - 1;
                    break;
                default:
                    if (is_float(step.type))
                        run_float(step, slots);
                    else
                        slots[step.out].bits =
                            run_integer(step.opcode, step.type, slots[step.a].bits, slots[step.b].bits);
            }
        }
        return {};
    }
};

}  // namespace segfold
