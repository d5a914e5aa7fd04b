#include "runtime/data/key_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "dsl/error.h"
#include "dsl/rewrite/index_column.h"
#include "runtime/data/segments.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

constexpr std::int64_t kFewestEntries = std::int64_t{1} << 16;  // least number of entries per thread

/// Calls `visit` with the bits of the keys and with a function that maps bits to integers in the order of the
/// keys.
template <class Visit>
void visit_keys(const Array& keys, Visit visit)
{
    visit_storage(keys.type(), [&]<class Element>(std::type_identity<Element>) {
        constexpr auto kBytes = sizeof(Element);
        using Bits = std::conditional_t<
            kBytes == 1, std::uint8_t,
            std::conditional_t<kBytes == 2, std::uint16_t,
                               std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;
        constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * kBytes - 1));
        const auto bits = keys.as<Bits>();
        if (is_float(keys.type()))
            visit(bits, [](Bits key) { return static_cast<Bits>((key & kSign) != 0 ? ~key : key | kSign); });
        else if (is_signed_integer(keys.type()))
            visit(bits, [](Bits key) { return static_cast<Bits>(key ^ kSign); });
        else
            visit(bits, [](Bits key) { return key; });
    });
}

/// Sorts items by key. Items with equal keys keep their order. A radix sort, lowest digit first, that skips
/// digits in which all keys agree.
template <class Item, class KeyOf>
void sort_by_digits(std::vector<Item>& items, KeyOf key_of)
{
    constexpr int kBits = 8;
    std::uint64_t differing = 0;
    for (const auto& item : items)
        differing |= std::uint64_t{key_of(item)} ^ std::uint64_t{key_of(items.front())};
    std::vector<Item> sorted(items.size());
    for (int shift = 0; shift < 64; shift += kBits) {
        const auto digit = [&](const Item& item) {
            return static_cast<std::uint8_t>(std::uint64_t{key_of(item)} >> shift);
        };
        if (static_cast<std::uint8_t>(differing >> shift) == 0)
            continue;
        std::array<std::size_t, 1 << kBits> begins{};
        for (const auto& item : items)
            ++begins[digit(item)];
        std::size_t begin = 0;
        for (auto& of_digit : begins)
            begin += std::exchange(of_digit, begin);
        for (const auto& item : items)
            sorted[begins[digit(item)]++] = item;
        items.swap(sorted);
    }
}

/// Fibonacci hashing: D. E. Knuth, "The Art of Computer Programming", volume 3, section 6.4. Successive keys
/// get distant hashes. A hash has 64 - `shift` bits.
std::size_t hash_of_key(std::uint64_t key, int shift) { return key * 0x9E3779B97F4A7C15U >> shift; }

/// A Bloom filter with one hash. It has at least 16 bits for each key.
class BitTable {
public:
    explicit BitTable(std::size_t num_keys)
        : shift_(64 - std::max(static_cast<int>(std::bit_width(num_keys)) + 4, 6)),
          words_(std::size_t{1} << (58 - shift_))
    {}

    [[nodiscard]] bool has(std::uint64_t key) const
    {
        const auto place = hash_of_key(key, shift_);
        return (words_[place / 64] >> place % 64 & 1) != 0;
    }
    void add(std::uint64_t key)
    {
        const auto place = hash_of_key(key, shift_);
        words_[place / 64] |= std::uint64_t{1} << place % 64;
    }

private:
    int shift_;
    std::vector<std::uint64_t> words_;
};

/// True if the keys rise strictly from the first to the last, or fall strictly.
template <class Bits, class Order>
bool rises_or_falls(std::span<const Bits> keys, Order order)
{
    bool rises = true, falls = true;
    constexpr std::size_t kStep = 1024;  // keys that are compared without a branch
    for (std::size_t i = 1; i < keys.size() && (rises || falls);) {
        for (const auto end = std::min(keys.size(), i + kStep); i < end; ++i) {
            rises &= order(keys[i - 1]) < order(keys[i]);
            falls &= order(keys[i - 1]) > order(keys[i]);
        }
    }
    return rises || falls;
}

/// Returns the number of keys that repeat an earlier key.
///
/// A key is a candidate if its hash occurs twice. Candidates in a small table of recent keys are counted at
/// once. The other candidates are sorted and counted.
template <class Bits>
std::int64_t count_returning(std::span<const Bits> keys)
{
    BitTable seen(keys.size());
    std::optional<BitTable> twice;
    for (const auto key : keys) {
        if (seen.has(key)) {
            if (!twice)
                twice.emplace(keys.size());
            twice->add(key);
        }
        seen.add(key);
    }
    if (!twice)
        return 0;
    constexpr int kBitsAtHand = 12;
    std::vector<Bits> at_hand(std::size_t{1} << kBitsAtHand, keys.front());
    std::vector<Bits> doubtful = {keys.front()};
    std::int64_t count = 0;
    for (const auto key : keys.subspan(1)) {
        auto& known = at_hand[hash_of_key(key, 64 - kBitsAtHand)];
        if (known == key)
            ++count;
        else if (twice->has(key))
            doubtful.push_back(known = key);
    }
    sort_by_digits(doubtful, std::identity());
    for (std::size_t i = 1; i < doubtful.size(); ++i)
        count += doubtful[i] == doubtful[i - 1] ? 1 : 0;
    return count;
}

/// Copies entries of `bytes` bytes. Entry `i` goes from `place_from(i)` to `place_into(i)`. Sizes up to 8
/// bytes are compile-time constants.
void copy_entries(std::size_t bytes, std::int64_t count, std::byte* into, const std::byte* from,
                  const auto& place_into, const auto& place_from)
{
    const auto copy_all = [&](auto width) {
        parallel_for(count, kFewestEntries, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                std::memcpy(into + static_cast<std::size_t>(place_into(i)) * width,
                            from + static_cast<std::size_t>(place_from(i)) * width, width);
        });
    };
    switch (bytes) {
        case 1: return copy_all(std::integral_constant<std::size_t, 1>());
        case 2: return copy_all(std::integral_constant<std::size_t, 2>());
        case 4: return copy_all(std::integral_constant<std::size_t, 4>());
        case 8: return copy_all(std::integral_constant<std::size_t, 8>());
        default: return copy_all(bytes);
    }
}

/// Copies the entries of `from` at `places` to successive entries of `into`. If `is_back` is true, copies
/// successive entries of `from` to `places` of `into`.
void move_entries(Array& into, const Array& from, const Array& places, bool is_back)
{
    const auto row_length = std::max<std::size_t>(from.row_length(), 1);
    const auto width = row_length * size_bytes(from.type());
    if (from.length() != places.length() * row_length)
        throw InternalError(fmt::format("{} places move {} numbers in rows of {}", places.length(),
                                        from.length(), row_length));
    visit_integers(places, [&](auto values) {
        const auto place = [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
        const auto count = std::ssize(values);
        if (is_back)
            copy_entries(width, count, into.data(), from.data(), place, std::identity());
        else
            copy_entries(width, count, into.data(), from.data(), std::identity(), place);
    });
}

template <class Bits, class Index, class Order>
Array places_of(std::span<const Bits> keys, Type index, Order order)
{
    struct Item {
        Bits key;
        Index place;
    };
    std::vector<Item> items(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
        items[i] = {order(keys[i]), static_cast<Index>(i)};
    sort_by_digits(items, [](const Item& item) { return item.key; });
    Array places(index, keys.size());
    std::ranges::transform(items, places.as<Index>().begin(), [](const Item& item) { return item.place; });
    return places;
}

}  // namespace

std::int64_t count_distinct(const Array& keys)
{
    auto count = static_cast<std::int64_t>(keys.length());
    visit_keys(keys, [&](auto bits, auto order) {
        if (!rises_or_falls(bits, order))
            count -= count_returning(bits);
    });
    return count;
}

std::string text_of_returning_keys(std::int64_t num_runs, std::int64_t num_distinct, std::string_view recipe)
{
    if (num_distinct == num_runs)
        return {};
    return fmt::format(
        "keys come back: {} runs of equal neighbours have {} distinct {}, and each run is a "
        "segment of its own; {}",
        num_runs, num_distinct, num_distinct == 1 ? "key" : "keys", recipe);
}

void warn_of_returning_keys(const Array& run_keys, bool& has_warned, std::vector<std::string>& warnings)
{
    if (has_warned)
        return;
    auto text =
        text_of_returning_keys(static_cast<std::int64_t>(run_keys.length()), count_distinct(run_keys),
                               "these are of one part of a stream; keys in any order are --sort-keys in "
                               "the program and by= in Python, so that each key is one segment");
    has_warned = !text.empty();
    if (has_warned)
        warnings.push_back(std::move(text));
}

std::optional<Array> sorted_places(const Array& keys)
{
    std::optional<Array> places;
    const bool is_wide = index_bits_for({static_cast<std::int64_t>(keys.length())}) == 64;
    visit_keys(keys, [&]<class Bits>(std::span<const Bits> bits, auto order) {
        if (std::ranges::is_sorted(bits, {}, order))
            return;
        places = is_wide ? places_of<Bits, std::int64_t>(bits, Type::i64, order)
                         : places_of<Bits, std::int32_t>(bits, Type::i32, order);
    });
    return places;
}

Array taken_at(const Array& array, const Array& places)
{
    Array taken(array.type(), array.length());
    taken.set_row_length(array.row_length());
    move_entries(taken, array, places, false);
    return taken;
}

Array chosen_from(const Array& array, const Array& places)
{
    Array chosen(array.type(), places.length());
    visit_integers(places, [&](auto values) {
        copy_entries(size_bytes(array.type()), std::ssize(values), chosen.data(), array.data(),
                     std::identity(), [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; });
    });
    return chosen;
}

Array inverse(const Array& places)
{
    Array inverted(Type::i64, places.length());
    const auto into = inverted.as<std::int64_t>();
    visit_integers(places, [&](auto values) {
        for (std::size_t i = 0; i < values.size(); ++i)
            into[static_cast<std::size_t>(values[i])] = static_cast<std::int64_t>(i);
    });
    return inverted;
}

void put_back(Array& array, const Array& places)
{
    const auto sorted = array.copy();
    move_entries(array, sorted, places, true);
}

void require_movable(const Operator& op, std::string_view asked)
{
    if (reads_index(op))
        throw InputError(
            fmt::format("operator {} reads 'index', the place of an element, and {} moves elements, so that "
                        "places would be those of sorted arrays; sort the arrays by key first, stably, and "
                        "keep the order, which says where an element stood",
                        op.name, asked));
}

}  // namespace segfold
