#include "runtime/data/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "dsl/error.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/processes/shares.h"
#include "runtime/support/text_table.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

constexpr std::int64_t kFewestOfAShare = std::int64_t{1} << 16;  // a thread takes at least this many elements

/// What one pass over the numbers of groups finds.
struct NumbersOfGroups {
    std::int64_t largest = -1;
    bool rise = true;  ///< no number is less than the one before it; negative numbers count as equal
};

/// The number of an element's group, or -1.
template <class Number>
std::int64_t group_of(Number number)
{
    if (std::cmp_less(number, 0))
        return -1;
    return std::cmp_greater(number, std::numeric_limits<std::int64_t>::max())
               ? std::numeric_limits<std::int64_t>::max()
               : static_cast<std::int64_t>(number);
}

template <class Number>
NumbersOfGroups look_at_groups(std::span<const Number> numbers)
{
    NumbersOfGroups found;
    std::mutex mutex;
    parallel_for(std::ssize(numbers), kFewestOfAShare, [&](std::int64_t begin, std::int64_t end) {
        NumbersOfGroups part;
        auto before = begin == 0 ? -1 : group_of(numbers[static_cast<std::size_t>(begin - 1)]);
        for (auto i = begin; i < end; ++i) {
            const auto group = group_of(numbers[static_cast<std::size_t>(i)]);
            part.largest = std::max(part.largest, group);
            part.rise &= before <= group;
            before = group;
        }
        const std::scoped_lock lock(mutex);
        found.largest = std::max(found.largest, part.largest);
        found.rise &= part.rise;
    });
    return found;
}

template <class Number>
[[noreturn]] void refuse_number(std::span<const Number> numbers, std::int64_t num_groups)
{
    const auto wrong = std::ranges::find_if(
        numbers, [&](Number number) { return std::cmp_greater_equal(number, num_groups); });
    throw InputError(fmt::format("the number of the group of element {} is {}, and there {} {}: {}",
                                 wrong - numbers.begin(), *wrong, num_groups == 1 ? "is" : "are",
                                 count_text(num_groups, "group"),
                                 num_groups == 0 ? "only a negative number, which means no group, is right"
                                                 : fmt::format("numbers go from 0 to {}, and a negative one "
                                                               "means no group",
                                                               num_groups - 1)));
}

/// The begins of the groups in sorted elements, with those of no group in front and the end behind them:
/// [num_groups + 2]. Counts the elements of each share apart, and gives each share the place of its first
/// element of each group, if `positions` are wanted.
template <class Number, class Index>
Array begins_of_groups(std::span<const Number> numbers, std::int64_t num_groups, Type index, Array* positions)
{
    const auto num_slots = static_cast<std::size_t>(num_groups) + 1;  // the first one is that of no group
    // More shares than this would spend their time on groups, and not on elements.
    const Shares shares(std::ssize(numbers), std::max(kFewestOfAShare, num_groups));
    const auto slot_of = [&](std::size_t i) { return static_cast<std::size_t>(group_of(numbers[i]) + 1); };
    std::vector<std::vector<Index>> next(static_cast<std::size_t>(shares.number));
    shares.each([&](std::size_t share, std::size_t begin, std::size_t end) {
        next[share].assign(num_slots, 0);
        for (auto i = begin; i < end; ++i)
            ++next[share][slot_of(i)];
    });
    Array starts(index, num_slots + 1);
    const auto start_of = starts.as<Index>();
    Index place = 0;
    for (std::size_t slot = 0; slot < num_slots; ++slot) {
        start_of[slot] = place;
        for (auto& counts : next)
            place += std::exchange(counts[slot], place);
    }
    start_of[num_slots] = place;
    if (positions == nullptr)
        return starts;
    *positions = Array(index, numbers.size());
    const auto position_of = positions->as<Index>();
    shares.each([&](std::size_t share, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            position_of[i] = next[share][slot_of(i)]++;
    });
    return starts;
}

/// Entries `first` to `last` - 1 of an array.
Array entries_of(const Array& array, std::size_t first, std::size_t last)
{
    return Array::borrow(array.type(), array.data() + first * size_bytes(array.type()), last - first).copy();
}

}  // namespace

GroupOrder order_by_group(const Array& groups, std::optional<std::int64_t> num_groups)
{
    if (!is_integer(groups.type()))
        throw InputError(fmt::format("the numbers of groups are {}; they are integers", name(groups.type())));
    if (num_groups && *num_groups < 0)
        throw InputError(fmt::format("the number of groups is {}; it is 0 or more", *num_groups));
    GroupOrder order;
    visit_integers(groups, [&]<class Number>(std::span<const Number> numbers) {
        const auto found = look_at_groups(numbers);
        if (found.largest == std::numeric_limits<std::int64_t>::max() ||
            (num_groups && found.largest >= *num_groups))
            refuse_number(numbers, num_groups.value_or(std::numeric_limits<std::int64_t>::max()));
        const auto count = num_groups.value_or(found.largest + 1);
        const auto num_elements = std::ssize(numbers);
        const bool is_wide = index_bits_for({num_elements, count}) == 64;
        const double bytes = is_wide ? 8 : 4;
        require_memory(bytes * (3.0 * static_cast<double>(count) + static_cast<double>(num_elements)),
                       fmt::format("the order of {} in {}", count_text(num_elements, "element"),
                                   count_text(count, "group")));
        Array positions;
        Array* const wanted = found.rise ? nullptr : &positions;
        auto starts = is_wide ? begins_of_groups<Number, std::int64_t>(numbers, count, Type::i64, wanted)
                              : begins_of_groups<Number, std::int32_t>(numbers, count, Type::i32, wanted);
        if (wanted != nullptr)
            order.positions = std::move(positions);
        const auto num_slots = starts.length() - 1;
        std::int64_t num_without = 0;
        visit_integers(starts, [&](auto begins) { num_without = static_cast<std::int64_t>(begins[1]); });
        if (num_without == 0)
            order.segments = segments_from_offsets(entries_of(starts, 1, num_slots + 1), num_elements);
        else
            order.segments = segments_from_ranges(entries_of(starts, 1, num_slots),
                                                  entries_of(starts, 2, num_slots + 1), num_elements);
    });
    return order;
}

}  // namespace segfold
