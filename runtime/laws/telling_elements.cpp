#include "runtime/laws/telling_elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>

#include "runtime/data/data_ranges.h"
#include "runtime/support/processes/segment_blocks.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

/// Number of values that a thread takes at a time.
constexpr std::int64_t kValuesAtOnce = std::int64_t{1} << 16;

/// Maps a value to an integer with the same order. Infinities and NaN lie beyond the finite floats at either
/// end.
template <class Element>
auto in_order(const Element& value, bool is_float)
{
    if constexpr (std::is_same_v<Element, bool>) {
        return static_cast<std::uint8_t>(value);
    } else {
        using Unsigned =
            std::conditional_t<sizeof(Element) == 8, std::uint64_t,
                               std::conditional_t<sizeof(Element) == 4, std::uint32_t, std::uint16_t>>;
        using Signed = std::make_signed_t<Unsigned>;
        if constexpr (std::is_floating_point_v<Element> || std::is_same_v<Element, std::uint16_t>) {
            if (!std::is_floating_point_v<Element> && !is_float)
                return static_cast<Signed>(std::bit_cast<Unsigned>(value) ^ Unsigned(1)
                                                                                << (8 * sizeof(Element) - 1));
            const auto bits = std::bit_cast<Signed>(value);
            return static_cast<Signed>(bits ^ (bits < 0 ? std::numeric_limits<Signed>::max() : Signed{0}));
        } else {
            return value;
        }
    }
}

struct Ends {
    std::int64_t lowest = 0, highest = 0;  ///< indices of the values
};

template <class Element>
Ends ends_of(const Element* values, std::int64_t begin, std::int64_t end, bool is_float)
{
    Ends ends{begin, begin};
    auto lowest = in_order(values[begin], is_float), highest = lowest;
    for (auto i = begin + 1; i < end; ++i) {
        const auto value = in_order(values[i], is_float);
        if (value < lowest) {
            lowest = value;
            ends.lowest = i;
        }
        if (value > highest) {
            highest = value;
            ends.highest = i;
        }
    }
    return ends;
}

/// Returns the indices of the lowest and the highest value of an array. Among equal values, the first index
/// is taken.
Ends ends_of(const Array& array)
{
    const auto length = static_cast<std::int64_t>(array.length());
    const bool are_floats = is_float(array.type());
    return visit_storage(array.type(), [&]<class Element>(std::type_identity<Element>) {
        const auto* values = reinterpret_cast<const Element*>(array.data());
        if (length <= kValuesAtOnce)
            return ends_of(values, 0, length, are_floats);
        std::mutex mutex;
        std::vector<Ends> parts;
        for_blocks((length + kValuesAtOnce - 1) / kValuesAtOnce, 0,
                   [&](std::int64_t first, std::int64_t last) {
                       const auto part = ends_of(values, first * kValuesAtOnce,
                                                 std::min(last * kValuesAtOnce, length), are_floats);
                       const std::lock_guard lock(mutex);
                       parts.push_back(part);
                   });
        const auto key = [&](std::int64_t i) { return in_order(values[i], are_floats); };
        auto ends = parts.front();
        for (const auto& part : parts) {
            if (std::pair(key(part.lowest), part.lowest) < std::pair(key(ends.lowest), ends.lowest))
                ends.lowest = part.lowest;
            if (key(part.highest) > key(ends.highest) ||
                (key(part.highest) == key(ends.highest) && part.highest < ends.highest))
                ends.highest = part.highest;
        }
        return ends;
    });
}

}  // namespace

TellingElements telling_elements(const Operator& op, const std::vector<Array>& arrays,
                                 std::int64_t num_features)
{
    TellingElements found;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const bool is_of_floats = is_float(parameter.type);
        if (parameter.scalar || arrays[i].length() == 0 || (parameter.table && !is_of_floats))
            continue;
        const auto ends = ends_of(arrays[i]);
        for (const auto at : {ends.lowest, ends.highest}) {
            found.are_finite =
                found.are_finite && (!is_of_floats || std::isfinite(value_at(arrays[i], at).real));
            if (!parameter.table)
                found.numbers.push_back(parameter.row ? at : at * num_features);
        }
    }
    return found;
}

}  // namespace segfold
