#include "runtime/data/data_ranges.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "dsl/evaluation/interpreter.h"
#include "runtime/support/processes/segment_blocks.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

/// Number of elements in a part of for_parts().
constexpr std::int64_t kBlock = std::int64_t{1} << 16;

/// Calls `work(begin, end)` for successive parts of an array, on all threads.
template <class Work>
void for_parts(const Array& array, const Work& work)
{
    const auto length = static_cast<std::int64_t>(array.length());
    for_blocks((length + kBlock - 1) / kBlock, 0, [&](std::int64_t first, std::int64_t last) {
        work(first * kBlock, std::min(last * kBlock, length));
    });
}

/// Returns the least and the greatest of `count` values; `count` must be at least 1.
template <class T>
std::pair<T, T> ends_of(const T* values, std::int64_t count)
{
    std::int64_t i = 0;
    if constexpr (sizeof(T) == 8) {  // few processors can compare vectors of 64-bit integers
        T low = values[0], high = low, other_low = low, other_high = low;
        for (; i + 2 <= count; i += 2) {
            const T value = values[i], other = values[i + 1];
            low = value < low ? value : low;
            high = high < value ? value : high;
            other_low = other < other_low ? other : other_low;
            other_high = other_high < other ? other : other_high;
        }
        const T last = values[count - 1];
        return {std::min({low, other_low, last}), std::max({high, other_high, last})};
    }
    // Compilers vectorise separate lanes in loops of fixed length.
    constexpr std::int64_t kLanes = 64;
    std::array<T, kLanes> least, greatest;
    least.fill(values[0]);
    greatest.fill(values[0]);
    for (; i + kLanes <= count; i += kLanes)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            const T value = values[i + lane];
            auto& low = least[static_cast<std::size_t>(lane)];
            auto& high = greatest[static_cast<std::size_t>(lane)];
            low = value < low ? value : low;
            high = high < value ? value : high;
        }
    for (; i < count; ++i) {
        least[0] = std::min(least[0], values[i]);
        greatest[0] = std::max(greatest[0], values[i]);
    }
    return {*std::ranges::min_element(least), *std::ranges::max_element(greatest)};
}

bool is_before(const FieldValue& left, const FieldValue& right)
{
    if (is_float(left.type))
        return left.real < right.real;
    const std::uint64_t flip = is_signed_integer(left.type) ? std::uint64_t{1} << 63 : 0;
    return (left.bits ^ flip) < (right.bits ^ flip);
}

void widen(ColumnRange& range, const FieldValue& value)
{
    if (!range.lowest || is_before(value, *range.lowest))
        range.lowest = value;
    if (!range.highest || is_before(*range.highest, value))
        range.highest = value;
}

void see(ColumnRange& range, const FieldValue& value)
{
    if (!is_float(value.type) || std::isfinite(value.real)) {
        widen(range, value);
        range.has_negative_zero |= value.real == 0 && std::signbit(value.real);
    } else if (std::isnan(value.real)) {
        range.has_nan = true;
    } else {
        (value.real > 0 ? range.has_positive_infinity : range.has_negative_infinity) = true;
    }
}

void join(ColumnRange& range, const ColumnRange& part)
{
    for (const auto& end : {part.lowest, part.highest})
        if (end)
            widen(range, *end);
    range.has_negative_zero |= part.has_negative_zero;
    range.has_positive_infinity |= part.has_positive_infinity;
    range.has_negative_infinity |= part.has_negative_infinity;
    range.has_nan |= part.has_nan;
}

ColumnRange range_of(const Array& array)
{
    ColumnRange range;
    std::mutex mutex;
    for_parts(array, [&](std::int64_t begin, std::int64_t end) {
        ColumnRange part;
        for (std::int64_t i = begin; i < end; ++i)
            see(part, value_at(array, i));
        const std::lock_guard lock(mutex);
        join(range, part);
    });
    return range;
}

/// True if a value is infinite or NaN. Only such values have all bits of the mask `exponent` set.
template <class Element>
bool has_full_exponent(const Element* values, std::int64_t count, std::uint64_t exponent)
{
    using Bits = std::conditional_t<sizeof(Element) == 2, std::uint16_t,
                                    std::conditional_t<sizeof(Element) == 4, std::uint32_t, std::uint64_t>>;
    typedef Bits Vector __attribute__((vector_size(16)));
    constexpr auto kStep = static_cast<std::int64_t>(sizeof(Vector) / sizeof(Bits));
    const auto full = static_cast<Bits>(exponent);
    Vector all{};  // all bits set in lanes that met a full exponent
    std::int64_t i = 0;
    for (; i + kStep <= count; i += kStep) {
        Vector some;
        std::memcpy(&some, values + i, sizeof some);
        all |= static_cast<Vector>((some & full) == full);
    }
    bool found = false;
    for (std::int64_t k = 0; k < kStep; ++k)
        found |= all[k] != 0;
    for (; i < count; ++i) {
        Bits bits = 0;
        std::memcpy(&bits, values + i, sizeof bits);
        found |= (bits & full) == full;
    }
    return found;
}

/// The values to search for: all non-finite values, or NaN only.
enum class Strays : std::uint8_t { all, nan };

bool has_strays(const Array& array, Strays strays)
{
    const std::uint64_t exponent = array.type() == Type::f16    ? 0x7c00
                                   : array.type() == Type::bf16 ? 0x7f80
                                   : array.type() == Type::f32  ? 0x7f800000
                                                                : 0x7ff0000000000000;
    std::mutex mutex;
    bool found = false;
    visit_storage(array.type(), [&]<class Element>(std::type_identity<Element>) {
        const auto* values = reinterpret_cast<const Element*>(array.data());
        for_parts(array, [&](std::int64_t begin, std::int64_t end) {
            bool counts = has_full_exponent(values + begin, end - begin, exponent);
            if (counts && strays == Strays::nan) {
                counts = false;
                for (auto i = begin; i < end && !counts; ++i)
                    counts = std::isnan(value_at(array, i).real);
            }
            if (!counts)
                return;
            const std::lock_guard lock(mutex);
            found = true;
        });
    });
    return found;
}

/// True if only `map` or `scan` reads a column or table, so that no state depends on it.
bool is_of_outputs_alone(const Operator& op, const Parameter& parameter)
{
    const bool is_read =
        (op.map && reads(*op.map, parameter.name)) || (op.scan && reads(op.scan->block, parameter.name));
    return is_read && !parameter.scalar && !reads(op.lift, parameter.name) &&
           !(op.append && reads(*op.append, parameter.name));
}

std::optional<std::string> find_strays(const Operator& op, const std::vector<Array>& arrays, Strays strays)
{
    for (std::size_t i = 0; i < arrays.size(); ++i)
        if (is_float(arrays[i].type()) && !is_of_outputs_alone(op, op.parameters[i]) &&
            has_strays(arrays[i], strays))
            return op.parameters[i].name;
    return std::nullopt;
}

}  // namespace

FieldValue value_at(const Array& array, std::int64_t i) { return value_at(array.type(), array.data(), i); }

FieldValue value_at(Type type, const void* elements, std::int64_t i)
{
    Slot<double> slot{};
    Machine<double>::load(slot, type, elements, i);
    FieldValue value{type};
    if (is_float(value.type))
        value.real = Machine<double>::get_real(slot, value.type);
    else
        value.bits = slot.bits;
    return value;
}

Interval values_in(const Array& array)
{
    if (array.length() == 0)
        return {};
    if (!is_integer(array.type()))
        return values_of(array.type());
    Interval all;
    visit_integers(array, [&](auto values) {
        std::mutex mutex;
        for_parts(array, [&](std::int64_t begin, std::int64_t end) {
            const auto [low, high] = ends_of(values.data() + begin, end - begin);
            const std::lock_guard lock(mutex);
            all = hull(all, {low, high});
        });
    });
    return all;
}

DataRanges data_ranges(const Workload& workload)
{
    DataRanges ranges;
    for (std::size_t i = 0; i < workload.arrays.size(); ++i)
        if (!workload.op.parameters[i].table)
            ranges.push_back(range_of(workload.arrays[i]));
    return ranges;
}

ScalarValues scalar_values(const Workload& workload) { return scalar_values(workload.op, workload.arrays); }

ScalarValues scalar_values(const Operator& op, const std::vector<Array>& arrays)
{
    ScalarValues values;
    for (std::size_t i = 0; i < arrays.size(); ++i)
        if (op.parameters[i].scalar)  // arrays of wrong length are refused later
            values.push_back(arrays[i].length() == 1 ? std::optional(value_at(arrays[i], 0)) : std::nullopt);
    return values;
}

std::optional<std::string> find_not_finite(const Workload& workload)
{
    return find_not_finite(workload.op, workload.arrays);
}

std::optional<std::string> find_not_finite(const Operator& op, const std::vector<Array>& arrays)
{
    return find_strays(op, arrays, Strays::all);
}

std::optional<std::string> find_nan(const Operator& op, const std::vector<Array>& arrays)
{
    return find_strays(op, arrays, Strays::nan);
}

}  // namespace segfold
