#include "dsl/laws/constants.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dsl/laws/elements.h"

namespace segfold {
namespace {

constexpr std::size_t kMostConstants = 12;
constexpr std::size_t kMostValues = 64;

/// Integers below this limit are exact in a double.
constexpr double kMostExact = 0x1p53;

/// A constant in the operator's text: a signed integer of 64 bits or a real number.
struct Number {
    bool is_whole = false;
    std::uint64_t bits = 0;  ///< two's complement
    bool negative = false;
    double real = 0;
};

Number whole(std::uint64_t bits, bool negative)
{
    const double size = static_cast<double>(negative ? 0 - bits : bits);
    return {true, bits, negative, negative ? -size : size};
}

Number real(double value)
{
    if (std::fabs(value) <= kMostExact && value == std::trunc(value))
        return whole(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), value < 0);
    return {false, 0, value < 0, value};
}

Number number_of(const Constant& constant)
{
    if (is_float(constant.type))
        return real(constant.real);
    return whole(constant.bits, is_signed_integer(constant.type) && constant.bits >> 63 != 0);
}

/// True for a finite number other than 0, 1 and -1. Those three are edge values of every type anyway.
bool is_telling(const Number& number)
{
    return std::isfinite(number.real) && std::fabs(number.real) != 1 && number.real != 0;
}

std::vector<Number> numbers_of(const Bytecode& bytecode)
{
    std::vector<Number> numbers;
    for (const auto* program : {&bytecode.combine, &bytecode.lift, &bytecode.append, &bytecode.identity})
        for (const auto& constant : program->constants) {
            const auto number = number_of(constant);
            const auto known = [&](const Number& other) {
                return other.is_whole == number.is_whole && other.bits == number.bits &&
                       other.real == number.real;
            };
            if (constant.type != Type::boolean && is_telling(number) && numbers.size() < kMostConstants &&
                std::ranges::none_of(numbers, known))
                numbers.push_back(number);
        }
    return numbers;
}

/// Collects distinct values of one type.
class Values {
public:
    explicit Values(Type type) : type_(type) {}

    /// Adds the number, and the numbers that are `steps` away.
    void add(const Number& number, std::initializer_list<int> steps)
    {
        for (const int step : steps)
            is_float(type_) ? add_real(number.real, step) : add_whole(number, step);
    }

    [[nodiscard]] std::vector<Slot<double>> take() && { return std::move(values_); }

private:
    void add_real(double value, int step)
    {
        Slot<double> slot{};
        if (std::fabs(value) > highest_float(type_))
            return;
        Machine<double>::set_real(slot, type_, value);
        if (step != 0)
            Machine<double>::set_real(slot, type_, neighbour(Machine<double>::get_real(slot, type_), step));
        put(slot);
    }

    /// Returns the next value of the type above (`step` 1) or below (`step` -1).
    [[nodiscard]] double neighbour(double value, int step) const
    {
        const double end = step * std::numeric_limits<double>::infinity();
        if (type_ == Type::f64)
            return std::nextafter(value, end);
        if (type_ == Type::f32)
            return std::nextafter(static_cast<float>(value), static_cast<float>(end));
        const double spacing = std::ldexp(1.0, std::ilogb(value) - (type_ == Type::f16 ? 10 : 7));
        return value + step * spacing;
    }

    void add_whole(const Number& number, int step)
    {
        const auto bits =
            (number.is_whole ? number.bits : whole_part(number.real)) + static_cast<std::uint64_t>(step);
        const bool negative = number.real + step < 0;
        const bool fits = wrap(type_, bits) == bits &&
                          (is_signed_integer(type_) ? (bits >> 63 != 0) == negative : !negative);
        Slot<double> slot{};
        slot.bits = bits;
        if (fits)
            put(slot);
    }

    static std::uint64_t whole_part(double value)
    {
        return std::fabs(value) < 0x1p62 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) : 0;
    }

    void put(const Slot<double>& slot)
    {
        const auto known = [&](const Slot<double>& other) {
            return is_float(type_)
                       ? Machine<double>::get_real(other, type_) == Machine<double>::get_real(slot, type_)
                       : other.bits == slot.bits;
        };
        if (values_.size() < kMostValues && std::ranges::none_of(values_, known))
            values_.push_back(slot);
    }

    Type type_;
    std::vector<Slot<double>> values_;
};

Number sum(const Number& left, const Number& right, bool subtract)
{
    const double value = subtract ? left.real - right.real : left.real + right.real;
    if (!left.is_whole || !right.is_whole)
        return real(value);
    return whole(subtract ? left.bits - right.bits : left.bits + right.bits, value < 0);
}

}  // namespace

std::vector<Slot<double>> constant_values(const Bytecode& bytecode, Type type)
{
    if (type == Type::boolean)
        return {};
    const auto numbers = numbers_of(bytecode);
    Values values(type);
    for (const auto& number : numbers)
        values.add(number, {0});
    for (const auto& number : numbers)
        values.add(number, {1, -1});
    for (const auto& number : numbers)
        values.add(number.is_whole ? whole(0 - number.bits, !number.negative) : real(-number.real), {0});
    for (const auto& left : numbers)
        for (const auto& right : numbers)
            for (const bool subtract : {true, false})
                values.add(sum(left, right, subtract), {0});
    return std::move(values).take();
}

}  // namespace segfold
