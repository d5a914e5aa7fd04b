#include "runtime/data/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "dsl/error.h"
#include "runtime/data/array_view.h"
#include "runtime/data/key_order.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/processes/shares.h"
#include "runtime/support/text_table.h"
#include "runtime/support/visit_type.h"

namespace segfold {

void refuse_group(std::int64_t element, const std::string& number, std::int64_t num_groups)
{
    throw InputError(fmt::format("the number of the group of element {} is {}, and there {} {}: {}", element,
                                 number, num_groups == 1 ? "is" : "are", count_text(num_groups, "group"),
                                 num_groups == 0 ? "only a negative number, which means no group, is right"
                                                 : fmt::format("numbers go from 0 to {}, and a negative one "
                                                               "means no group",
                                                               num_groups - 1)));
}

namespace {

constexpr std::int64_t kFewestOfAShare = std::int64_t{1} << 16;  // least number of elements per thread

template <class Number>
[[noreturn]] void refuse_number(std::span<const Number> numbers, std::int64_t num_groups)
{
    const auto wrong = std::ranges::find_if(
        numbers, [&](Number number) { return std::cmp_greater_equal(number, num_groups); });
    if (wrong == numbers.end())
        throw InputError("the numbers of groups were changed while a fold read them");
    refuse_group(wrong - numbers.begin(), fmt::format("{}", *wrong), num_groups);
}

/// Returns the number of groups: the largest number plus one, or 0 if all numbers are negative. Refuses a
/// number of 2^63 - 1 or more; messages name `num_groups`.
template <class Number>
std::int64_t count_groups(std::span<const Number> numbers, std::optional<std::int64_t> num_groups = {})
{
    const auto most =
        numbers.empty() ? Number{0} : std::max(Number{0}, extremes_of(numbers, kFewestOfAShare).second);
    if (std::cmp_greater_equal(most, std::numeric_limits<std::int64_t>::max()))
        refuse_number(numbers, num_groups.value_or(std::numeric_limits<std::int64_t>::max()));
    if (most == 0 && std::ranges::none_of(numbers, [](Number number) { return number == 0; }))
        return 0;
    return static_cast<std::int64_t>(most) + 1;
}

/// Divides the elements into shares that each have at least as many elements as there are slots. Smaller
/// shares would spend most of their time on counting slots.
Shares shares_of(std::int64_t num_elements, std::int64_t num_slots)
{
    return {num_elements, std::max(kFewestOfAShare, num_slots)};
}

/// Returns entries `first` to `last` - 1 of an array.
Array entries_of(const Array& array, std::size_t first, std::size_t last)
{
    return Array::borrow(array.type(), array.data() + first * size_bytes(array.type()), last - first).copy();
}

/// Moves entries `begin` to `end` - 1 into the order of groups if `sorts` is true, else back to the original
/// order. `next` has the next free position of each slot.
template <class Slot, class Index>
void move_entries(std::span<const Slot> slots, std::vector<Index> next, std::size_t begin, std::size_t end,
                  std::byte* into, const std::byte* from, bool sorts, auto width)
{
    for (auto i = begin; i < end; ++i) {
        const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(slots[i])]++);
        std::memcpy(into + (sorts ? place : i) * width, from + (sorts ? i : place) * width, width);
    }
}

void require_numbers(const Array& groups, std::optional<std::int64_t> num_groups)
{
    if (!is_integer(groups.type()))
        throw InputError(fmt::format("the numbers of groups are {}; they are integers", name(groups.type())));
    if (num_groups && *num_groups < 0)
        throw InputError(fmt::format("the number of groups is {}; it is 0 or more", *num_groups));
}

}  // namespace

Segments segments_from_unseen_groups(Array numbers, std::int64_t num_groups)
{
    require_numbers(numbers, num_groups);
    Segments segments;
    segments.form = SegmentForm::groups;
    segments.num_elements = static_cast<std::int64_t>(numbers.length());
    segments.num_segments = num_groups;
    segments.has_wide_indices = index_bits_for({segments.num_elements, segments.num_segments}) == 64;
    segments.numbers = std::move(numbers);
    return segments;
}

Segments segments_from_groups(Array numbers, std::optional<std::int64_t> num_groups)
{
    require_numbers(numbers, num_groups);
    std::int64_t counted = 0;
    visit_integers(numbers, [&](auto read) { counted = count_groups(read, num_groups); });
    auto segments = segments_from_unseen_groups(std::move(numbers), num_groups.value_or(counted));
    if (counted > segments.num_segments)
        refuse_numbers(segments);
    return segments;
}

void refuse_numbers(const Segments& segments)
{
    visit_integers(segments.numbers, [&](auto numbers) { refuse_number(numbers, segments.num_segments); });
    throw InternalError("refuse_numbers: the numbers of groups are no integers");
}

std::vector<std::int64_t> lengths_of_groups(const Segments& segments)
{
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(segments.num_segments));
    visit_integers(segments.numbers, [&](auto numbers) {
        for (const auto number : numbers)
            // The caller may change numbers meanwhile, so check them again.
            if (std::cmp_greater_equal(number, 0) && std::cmp_less(number, segments.num_segments))
                ++lengths[static_cast<std::size_t>(number)];
    });
    return lengths;
}

std::optional<std::int64_t> first_empty_group(const Segments& segments)
{
    std::vector<bool> has_elements(static_cast<std::size_t>(segments.num_segments));
    visit_integers(segments.numbers, [&](auto numbers) {
        for (const auto number : numbers)
            // The caller may change numbers meanwhile, so check them again.
            if (std::cmp_greater_equal(number, 0) && std::cmp_less(number, segments.num_segments))
                has_elements[static_cast<std::size_t>(number)] = true;
    });
    const auto found = std::ranges::find(has_elements, false);
    return found == has_elements.end() ? std::nullopt
                                       : std::optional<std::int64_t>(found - has_elements.begin());
}

GroupOrder::GroupOrder(const Array& groups, std::optional<std::int64_t> num_groups)
    : num_elements_(static_cast<std::int64_t>(groups.length()))
{
    require_numbers(groups, num_groups);
    visit_integers(groups, [&]<class Number>(std::span<const Number> numbers) {
        count(numbers, num_groups ? *num_groups : count_groups(numbers), std::nullopt);
    });
}

GroupOrder::GroupOrder(const Array& keys, std::uint64_t least, std::int64_t num_groups)
    : num_elements_(static_cast<std::int64_t>(keys.length()))
{
    visit_integers(keys, [&](auto numbers) { count(numbers, num_groups, least); });
}

template <class Number>
void GroupOrder::count(std::span<const Number> numbers, std::int64_t num_groups,
                       std::optional<std::uint64_t> least)
{
    if (num_groups > num_elements_)  // an invalid number may request any amount; the check is slow
        require_memory(32.0 * static_cast<double>(num_groups), count_text(num_groups, "group"));
    num_slots_ = num_groups + 1;
    if (index_bits_for({num_elements_, num_groups}) == 64)
        count_as<Number, std::int64_t, std::int64_t>(numbers, num_groups, least);
    else if (num_slots_ <= std::numeric_limits<std::uint16_t>::max())
        count_as<Number, std::uint16_t, std::int32_t>(numbers, num_groups, least);
    else
        count_as<Number, std::int32_t, std::int32_t>(numbers, num_groups, least);
}

template <class Number, class Slot, class Index>
void GroupOrder::count_as(std::span<const Number> numbers, std::int64_t num_groups,
                          std::optional<std::uint64_t> least)
{
    const auto shares = shares_of(num_elements_, num_slots_);
    const auto num_slots = static_cast<std::size_t>(num_slots_);
    num_shares_ = shares.number;
    slots_ = Array(type_of_element<Slot>(), numbers.size());
    begins_ = Array(type_of_element<Index>(), static_cast<std::size_t>(num_shares_) * num_slots);
    const auto slots = slots_.as<Slot>();
    const auto begins = begins_.as<Index>();
    const auto has_least = least.has_value();
    const auto first = least.value_or(0);
    const auto slot_of = [=](Number number) {
        if (has_least) {  // the bound matters, because the caller may change keys after an interrupted call
            const auto distance = static_cast<std::uint64_t>(number) - first;
            return distance < static_cast<std::uint64_t>(num_groups) ? static_cast<Slot>(distance + 1)
                                                                     : Slot{0};
        }
        return std::cmp_less(number, 0) || std::cmp_greater_equal(number, num_groups)
                   ? Slot{0}
                   : static_cast<Slot>(static_cast<Slot>(number) + 1);
    };
    struct Found {
        bool is_wrong = false, rises = true;
    };
    std::vector<Found> found(static_cast<std::size_t>(num_shares_));
    shares.each([&](std::size_t share, std::size_t begin, std::size_t end) {
        const auto counts = begins.subspan(share * num_slots, num_slots);
        std::ranges::fill(counts, Index{0});
        Found seen;
        auto before = begin == 0 ? Slot{0} : slot_of(numbers[begin - 1]);
        for (auto i = begin; i < end; ++i) {
            const auto number = numbers[i];
            const auto slot = slot_of(number);
            seen.is_wrong |= !has_least && std::cmp_greater_equal(number, num_groups);
            seen.rises &= before <= slot;
            slots[i] = before = slot;
            ++counts[slot];
        }
        found[share] = seen;
    });
    if (std::ranges::any_of(found, &Found::is_wrong))
        refuse_number(numbers, num_groups);
    moves_ = !std::ranges::all_of(found, &Found::rises);
    Array starts(type_of_element<Index>(), num_slots + 1);
    const auto start_of = starts.as<Index>();
    Index place = 0;
    for (std::size_t slot = 0; slot < num_slots; ++slot) {
        start_of[slot] = place;
        for (std::size_t share = 0; share < static_cast<std::size_t>(num_shares_); ++share)
            place += std::exchange(begins[share * num_slots + slot], place);
    }
    start_of[num_slots] = place;
    segments_ = start_of[1] == 0 ? segments_from_offsets(entries_of(starts, 1, num_slots + 1), num_elements_)
                                 : segments_from_ranges(entries_of(starts, 1, num_slots),
                                                        entries_of(starts, 2, num_slots + 1), num_elements_);
}

Array GroupOrder::moved(const Array& array, bool sorts) const
{
    const auto row_length = std::max<std::size_t>(array.row_length(), 1);
    const auto width = row_length * size_bytes(array.type());
    if (array.length() != static_cast<std::size_t>(num_elements_) * row_length)
        throw InternalError(fmt::format("{} elements are sorted by group, and {} numbers are in rows of {}",
                                        num_elements_, array.length(), row_length));
    if (!moves_)
        return array.copy();
    Array result(array.type(), array.length());
    result.set_row_length(array.row_length());
    const auto move = [&]<class Slot, class Index>(std::span<const Slot> slots,
                                                   std::span<const Index> begins) {
        const auto num_slots = static_cast<std::size_t>(num_slots_);
        shares_of(num_elements_, num_slots_).each([&](std::size_t share, std::size_t begin, std::size_t end) {
            const auto own = begins.subspan(share * num_slots, num_slots);
            const auto move_all = [&](auto bytes) {
                move_entries(slots, std::vector<Index>(own.begin(), own.end()), begin, end, result.data(),
                             array.data(), sorts, bytes);
            };
            switch (width) {
                case 1: return move_all(std::integral_constant<std::size_t, 1>());
                case 2: return move_all(std::integral_constant<std::size_t, 2>());
                case 4: return move_all(std::integral_constant<std::size_t, 4>());
                case 8: return move_all(std::integral_constant<std::size_t, 8>());
                default: return move_all(width);
            }
        });
    };
    if (slots_.type() == Type::i64)
        move(slots_.as<std::int64_t>(), begins_.as<std::int64_t>());
    else if (slots_.type() == Type::u16)
        move(slots_.as<std::uint16_t>(), begins_.as<std::int32_t>());
    else
        move(slots_.as<std::int32_t>(), begins_.as<std::int32_t>());
    return result;
}

Array GroupOrder::places() const
{
    Array all(Type::i64, static_cast<std::size_t>(num_elements_));
    std::int64_t next = 0;
    for (auto& place : all.as<std::int64_t>())
        place = next++;
    return sorted(all);
}

namespace {

/// Removes empty groups from `all`, which has one segment for each group number. `numbers` receives the
/// numbers of the remaining groups.
Segments without_empty(const Segments& all, std::vector<std::int64_t>& numbers)
{
    Array offsets(all.offsets.type(), 1);
    visit_integers(all.offsets, [&]<class Index>(std::span<const Index> from) {
        std::vector<Index> kept = {0};
        for (std::size_t g = 0; g + 1 < from.size(); ++g)
            if (from[g] != from[g + 1]) {
                kept.push_back(from[g + 1]);
                numbers.push_back(static_cast<std::int64_t>(g));
            }
        offsets = Array::of<Index>(all.offsets.type(), kept);
    });
    return segments_from_offsets(std::move(offsets), all.num_elements);
}

}  // namespace

std::optional<KeyRange> range_of_keys(const Array& keys)
{
    std::optional<KeyRange> found;
    if (is_integer(keys.type()) && keys.length() != 0)
        visit_integers(keys, [&](auto values) {
            const auto [least, greatest] = extremes_of(values, kFewestOfAShare);
            const auto distance = static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
            if (distance < values.size())
                found = {static_cast<std::uint64_t>(least), static_cast<std::int64_t>(distance) + 1};
        });
    return found;
}

KeyGroups::KeyGroups(const Array& column, const NumberedKeys& numbered)
    : order(numbered.numbers, static_cast<std::int64_t>(numbered.firsts.length())),
      keys(chosen_from(column, numbered.firsts))
{}

KeyGroups::KeyGroups(const Array& column, KeyOrder order) : order(Array(Type::i32, 0), 0)
{
    const auto range = range_of_keys(column);
    if (!range || order == KeyOrder::first) {
        *this = KeyGroups(column, number_keys(column, range, order));
        return;
    }
    this->order = GroupOrder(column, range->least, range->size);
    std::vector<std::int64_t> numbers;
    this->order.segments_ = without_empty(this->order.segments_, numbers);
    keys = Array(column.type(), numbers.size());
    visit_integers(column, [&]<class Key>(std::span<const Key>) {
        std::ranges::transform(numbers, keys.as<Key>().begin(), [&](std::int64_t number) {
            return static_cast<Key>(range->least + static_cast<std::uint64_t>(number));
        });
    });
}

}  // namespace segfold
