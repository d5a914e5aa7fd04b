#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/data/groups.h"
#include "runtime/data/key_order.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/processes/shares.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

constexpr std::int64_t kNarrowRange = std::int64_t{1} << 16;  // size of the largest range of 16-bit numbers
constexpr std::size_t kKeysBetweenLooks = std::size_t{1} << 14;
constexpr std::int64_t kFewestKeys = std::int64_t{1} << 16;  // least number of keys per thread

/// A hash table that numbers distinct keys in the order of arrival. It uses open addressing and is at most
/// half full.
template <class Bits>
class KeyTable {
public:
    KeyTable() { grow(kFirstBits); }

    [[nodiscard]] const std::vector<Bits>& keys() const { return keys_; }

    /// Returns the number of a key. A new key gets the next number.
    std::int64_t number_of(Bits key)
    {
        for (auto place = hash(key);; place = (place + 1) & (slots_.size() - 1)) {
            auto& slot = slots_[place];
            if (slot.number >= 0 && slot.key == key)
                return slot.number;
            if (slot.number < 0) {
                const auto number = std::ssize(keys_);
                slot = {key, number};
                keys_.push_back(key);
                if (2 * keys_.size() > slots_.size())
                    grow(std::countr_zero(slots_.size()) + 1);
                return number;
            }
        }
    }

private:
    static constexpr int kFirstBits = 10;

    /// Mixes all bits twice, so that keys collide only by chance. Source: A. Appleby, "MurmurHash3", 2011.
    [[nodiscard]] std::size_t hash(Bits key) const
    {
        auto bits = std::uint64_t{key};
        bits = (bits ^ bits >> 33) * 0xFF51AFD7ED558CCDU;
        return ((bits ^ bits >> 33) * 0xC4CEB9FE1A85EC53U) >> shift_;
    }
    void grow(int bits)
    {
        shift_ = 64 - bits;
        slots_.assign(std::size_t{1} << bits, Slot{});
        for (std::size_t number = 0; number < keys_.size(); ++number) {
            auto place = hash(keys_[number]);
            while (slots_[place].number >= 0)
                place = (place + 1) & (slots_.size() - 1);
            slots_[place] = {keys_[number], static_cast<std::int64_t>(number)};
        }
    }

    struct Slot {
        Bits key{};
        std::int64_t number = -1;  ///< negative if the slot has no key
    };

    int shift_ = 0;
    std::vector<Slot> slots_;
    std::vector<Bits> keys_;
};

/// Numbers the keys of one share with the share's own table.
template <class Bits, class Index>
void number_share(std::span<const Bits> keys, std::span<Index> numbers, KeyTable<Bits>& table)
{
    Bits before{};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i % kElementsBetweenLooks == 0)
            throw_if_stopped();
        const auto key = keys[i];
        numbers[i] = i > 0 && key == before ? numbers[i - 1] : static_cast<Index>(table.number_of(key));
        before = key;
    }
}

/// Numbers integer keys by a table with an entry for each integer of `range`. Numbers are of type Number.
/// Returns nothing if a key lies outside of the range.
template <class Number, class Index, class Integer>
std::optional<NumberedKeys> number_range(std::span<const Integer> keys, KeyRange range, Type index,
                                         KeyOrder order)
{
    NumberedKeys found{Array(type_of_element<Number>(), keys.size()), {}};
    const auto numbers = found.numbers.as<Number>();
    // Smaller shares would spend most of their time on their tables of the range.
    const Shares shares(std::ssize(keys), std::max(kFewestKeys, range.size));
    const auto size = static_cast<std::size_t>(range.size);
    std::vector<std::vector<Index>> firsts(static_cast<std::size_t>(shares.number));
    std::atomic<bool> is_outside = false;
    shares.each([&](std::size_t share, std::size_t begin, std::size_t end) {
        auto& first_of = firsts[share];
        first_of.assign(size, -1);
        while (begin < end && !is_outside) {
            std::size_t farthest = 0;
            for (const auto stop = std::min(end, begin + kKeysBetweenLooks); begin < stop; ++begin) {
                const auto distance = static_cast<std::uint64_t>(keys[begin]) - range.least;
                farthest = std::max(farthest, distance);
                const auto slot = std::min(distance, size - 1);
                numbers[begin] = static_cast<Number>(slot);
                if (auto& first = first_of[slot]; first < 0)
                    first = static_cast<Index>(begin);
            }
            if (farthest >= size)
                is_outside = true;
        }
    });
    if (is_outside)
        return std::nullopt;
    auto& first_of = firsts.front();
    std::vector<std::size_t> slots;  // slots that have a key, in the order of the numbers
    for (std::size_t slot = 0; slot < size; ++slot) {
        for (std::size_t share = 1; share < firsts.size() && first_of[slot] < 0; ++share)
            first_of[slot] = firsts[share][slot];
        if (first_of[slot] >= 0)
            slots.push_back(slot);
    }
    if (order == KeyOrder::first)
        std::ranges::sort(slots, {}, [&](std::size_t slot) { return first_of[slot]; });
    found.firsts = Array(index, slots.size());
    std::ranges::transform(slots, found.firsts.as<Index>().begin(),
                           [&](std::size_t slot) { return first_of[slot]; });
    if (order == KeyOrder::ascending && slots.size() == size)
        return found;  // each slot is its key's number
    std::vector<Number> number_of(size);
    for (std::size_t number = 0; number < slots.size(); ++number)
        number_of[slots[number]] = static_cast<Number>(number);
    Shares(std::ssize(keys), kFewestKeys).each([&](std::size_t, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            numbers[i] = number_of[static_cast<std::size_t>(numbers[i])];
    });
    return found;
}

/// Numbers the keys of each share, then the distinct keys of all shares in the order of shares. The result
/// does not depend on the number of shares.
template <class Bits, class Index>
NumberedKeys number_column(const Array& column, Type index, KeyOrder order)
{
    const auto keys = column.as<Bits>();
    const Shares shares(std::ssize(keys), kFewestKeys);
    NumberedKeys found{Array(index, keys.size()), {}};
    const auto numbers = found.numbers.as<Index>();
    std::vector<KeyTable<Bits>> tables(static_cast<std::size_t>(shares.number));
    shares.each([&](std::size_t share, std::size_t begin, std::size_t end) {
        number_share(keys.subspan(begin, end - begin), numbers.subspan(begin, end - begin), tables[share]);
    });
    KeyTable<Bits> all;
    std::vector<std::vector<Index>> renumbered;
    for (const auto& table : tables) {
        renumbered.emplace_back();
        for (const auto key : table.keys())
            renumbered.back().push_back(static_cast<Index>(all.number_of(key)));
    }
    const auto num_keys = all.keys().size();
    if (order == KeyOrder::ascending) {
        const auto distinct = Array::borrow(column.type(), all.keys().data(), num_keys);
        if (const auto places = sorted_places(distinct)) {
            const auto ranks = inverse(*places);
            for (auto& numbers_of_share : renumbered)
                for (auto& number : numbers_of_share)
                    number = static_cast<Index>(
                        ranks.template as<std::int64_t>()[static_cast<std::size_t>(number)]);
        }
    }
    found.firsts = Array(index, num_keys);
    const auto firsts = found.firsts.as<Index>();
    std::ranges::fill(firsts, Index{-1});
    shares.each([&](std::size_t share, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            numbers[i] = renumbered[share][static_cast<std::size_t>(numbers[i])];
    });
    std::size_t num_found = 0;
    for (std::size_t i = 0; i < numbers.size() && num_found < num_keys; ++i)
        if (auto& first = firsts[static_cast<std::size_t>(numbers[i])]; first < 0) {
            first = static_cast<Index>(i);
            ++num_found;
        }
    return found;
}

template <class Index>
NumberedKeys number_any(const Array& column, const std::optional<KeyRange>& range, Type index, KeyOrder order)
{
    if (range) {
        std::optional<NumberedKeys> found;
        visit_integers(column, [&](auto keys) {
            found = range->size <= kNarrowRange
                        ? number_range<std::uint16_t, Index>(keys, *range, index, order)
                        : number_range<Index, Index>(keys, *range, index, order);
        });
        if (!found)
            throw InputError("the keys were changed while a fold read them");
        return *std::move(found);
    }
    switch (size_bytes(column.type())) {
        case 1: return number_column<std::uint8_t, Index>(column, index, order);
        case 2: return number_column<std::uint16_t, Index>(column, index, order);
        case 4: return number_column<std::uint32_t, Index>(column, index, order);
        default: return number_column<std::uint64_t, Index>(column, index, order);
    }
}

/// Combines each pair of numbers into one number that keeps the order of pairs. It fits 64 bits, because
/// there are at most 2^31 times 2^31 pairs, or as many pairs as memory holds.
Array paired(const Array& high, const Array& low, std::int64_t num_low)
{
    Array pairs(Type::i64, high.length());
    const auto into = pairs.as<std::int64_t>();
    visit_integers(high, [&](auto highs) {
        visit_integers(low, [&](auto lows) {
            parallel_for(std::ssize(highs), kFewestKeys, [&](std::int64_t begin, std::int64_t end) {
                for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
                    into[i] =
                        static_cast<std::int64_t>(highs[i]) * num_low + static_cast<std::int64_t>(lows[i]);
            });
        });
    });
    return pairs;
}

}  // namespace

std::optional<NumberedKeys> number_near_keys(const Array& keys, KeyOrder order)
{
    std::optional<NumberedKeys> found;
    // A range as large as the keys are many takes as long as they do.
    if (!is_integer(keys.type()) || static_cast<std::int64_t>(keys.length()) < 4 * kNarrowRange ||
        index_bits_for({static_cast<std::int64_t>(keys.length())}) == 64)
        return found;
    visit_integers(keys, [&]<class Integer>(std::span<const Integer> values) {
        // The range must not wrap around, because it would then not be in the order of the keys.
        using Limits = std::numeric_limits<Integer>;
        constexpr auto kHalf = static_cast<std::uint64_t>(kNarrowRange) / 2;
        const auto first = static_cast<std::uint64_t>(values.front());
        const auto below = std::min(first - static_cast<std::uint64_t>(Limits::min()), kHalf);
        const auto above = std::min(static_cast<std::uint64_t>(Limits::max()) - first, kHalf - 1);
        const KeyRange range{first - below, static_cast<std::int64_t>(below + above) + 1};
        found = number_range<std::uint16_t, std::int32_t>(values, range, Type::i32, order);
    });
    return found;
}

NumberedKeys number_keys(const Array& keys, const std::optional<KeyRange>& range, KeyOrder order)
{
    return index_bits_for({static_cast<std::int64_t>(keys.length())}) == 64
               ? number_any<std::int64_t>(keys, range, Type::i64, order)
               : number_any<std::int32_t>(keys, range, Type::i32, order);
}

NumberedKeys number_keys(std::span<const Array> columns, KeyOrder order)
{
    if (columns.empty())
        throw InternalError("number_keys: no columns of keys");
    auto numbered = number_keys(columns.front(), range_of_keys(columns.front()), order);
    for (const auto& column : columns.subspan(1)) {
        if (column.length() != columns.front().length())
            throw InternalError("number_keys: columns of different lengths");
        const auto next = number_keys(column, range_of_keys(column), order);
        const auto pairs =
            paired(numbered.numbers, next.numbers, static_cast<std::int64_t>(next.firsts.length()));
        numbered = number_keys(pairs, range_of_keys(pairs), order);
    }
    return numbered;
}

}  // namespace segfold
