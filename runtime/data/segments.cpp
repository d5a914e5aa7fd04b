#include "runtime/data/segments.h"

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dsl/error.h"
#include "runtime/data/index_at.h"
#include "runtime/data/non_decreasing.h"
#include "runtime/data/segment_starts.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/processes/thread_pool.h"
#include "runtime/support/text_table.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 18;  // elements that a thread scans at once

void check_integers(const Array& array, std::string_view what)
{
    if (!is_integer(array.type()))
        throw InputError(fmt::format("{} are {}; they must be integers", what, name(array.type())));
}

/// Calls `visit` with the elements' bits as a span of unsigned integers.
template <class Visit>
void visit_bits(const Array& array, Visit visit)
{
    switch (size_bytes(array.type())) {
        case 1: return visit(array.as<std::uint8_t>());
        case 2: return visit(array.as<std::uint16_t>());
        case 4: return visit(array.as<std::uint32_t>());
        default: return visit(array.as<std::uint64_t>());
    }
}

/// Calls `visit` with the elements of an index array, i32 or i64, as a mutable span.
template <class Visit>
void visit_indices(Array& array, Visit visit)
{
    if (array.type() == Type::i32)
        visit(array.as<std::int32_t>());
    else
        visit(array.as<std::int64_t>());
}

std::int64_t signed_length(const Array& array) { return static_cast<std::int64_t>(array.length()); }

Type index_type_for(std::initializer_list<std::int64_t> counts)
{
    return index_bits_for(counts) == 64 ? Type::i64 : Type::i32;
}

/// Converts the array to indices of `type`. Every element must fit.
Array to_indices(Array array, Type type)
{
    if (array.type() == type)
        return array;
    Array converted(type, array.length());
    visit_indices(converted, [&](auto into) {
        using Index = typename decltype(into)::value_type;
        visit_integers(array, [&](auto from) {
            std::ranges::transform(from, into.begin(), [](auto value) { return static_cast<Index>(value); });
        });
    });
    return converted;
}

void check_num_elements(std::int64_t num_elements)
{
    if (num_elements < 0)
        throw InputError(fmt::format("the number of elements is {}; it must not be negative", num_elements));
}

/// Throws InputError if a bound lies outside of the data. `verb` is "begins" or "ends", for the message.
void check_bounds(const Array& bounds, std::string_view what, std::string_view verb,
                  std::int64_t num_elements)
{
    check_integers(bounds, what);
    visit_integers(bounds, [&](auto values) {
        bool is_outside = false;  // without a branch the loop can be vectorised
        for (const auto value : values)
            is_outside |= std::cmp_less(value, 0) || std::cmp_greater(value, num_elements);
        for (std::size_t s = 0; is_outside && s < values.size(); ++s)
            if (std::cmp_less(values[s], 0) || std::cmp_greater(values[s], num_elements))
                throw InputError(
                    fmt::format("range {} {} at {}, outside of the data; it must be from 0 to {}, the "
                                "number of elements",
                                s, verb, values[s], num_elements));
    });
}

/// Throws InputError for the first range whose end is before its begin.
[[noreturn]] void refuse_backward_range(const Array& begins, const Array& ends)
{
    std::int64_t s = 0;
    while (index_at(ends, s) >= index_at(begins, s))
        ++s;
    throw InputError(
        fmt::format("range {} ends at {}, before its begin {}; an end must not lie before its begin", s,
                    index_at(ends, s), index_at(begins, s)));
}

/// Returns the sum of the lengths of all ranges, or the largest integer if the sum overflows. Both arrays
/// must have the same type.
std::int64_t total_range_length(const Array& begins, const Array& ends)
{
    std::int64_t total = 0;
    bool is_backward = false;
    if (begins.type() == Type::i32) {  // the sum of 32-bit lengths cannot overflow
        const auto first = begins.as<std::int32_t>(), last = ends.as<std::int32_t>();
        for (std::size_t s = 0; s < first.size(); ++s) {
            is_backward |= last[s] < first[s];
            total += static_cast<std::int64_t>(last[s]) - first[s];
        }
    } else {
        const auto first = begins.as<std::int64_t>(), last = ends.as<std::int64_t>();
        for (std::size_t s = 0; s < first.size() && !is_backward; ++s) {
            is_backward = last[s] < first[s];
            if (__builtin_add_overflow(total, last[s] - first[s], &total))
                total = std::numeric_limits<std::int64_t>::max();
        }
    }
    if (is_backward)
        refuse_backward_range(begins, ends);
    return total;
}

/// Makes segments that start at every element marked by `mark`; see segment_starts.h.
template <class Marks>
Segments segments_from_starts(std::int64_t num_elements, const Marks& mark)
{
    Segments segments;
    segments.form = SegmentForm::offsets;
    segments.num_elements = num_elements;
    const Type type = index_type_for({num_elements});
    segments.has_wide_indices = type == Type::i64;
    find_starts(mark, num_elements, [&](std::int64_t count, auto write) {
        segments.num_segments = count;
        segments.offsets = Array(type, static_cast<std::size_t>(count) + 1);
        visit_indices(segments.offsets, [&](auto offsets) {
            using Index = typename decltype(offsets)::value_type;
            write(offsets.data());
            offsets.back() = static_cast<Index>(num_elements);
        });
    });
    return segments;
}

/// Converts 64-bit offsets to 32 bits, into `room` if it is large enough. The same pass on all cores makes
/// the checks of segments_from_offsets(). Returns nothing if a check fails, if the offsets are not i64, or if
/// they need 64 bits.
std::optional<Array> narrowed_offsets(const Array& offsets, std::int64_t num_elements, Array room)
{
    constexpr std::int64_t kPart = std::int64_t{1} << 16;
    if (offsets.type() != Type::i64 || offsets.length() == 0 || num_elements > kMaxNarrowIndex)
        return std::nullopt;
    const auto from = offsets.as<std::int64_t>();
    const auto count = static_cast<std::int64_t>(offsets.length());
    if (from.front() != 0 || from.back() != num_elements || count > kMaxNarrowIndex)
        return std::nullopt;
    const bool fits = room.type() == Type::i32 && room.length() == offsets.length();
    auto narrow = fits ? std::move(room) : Array(Type::i32, offsets.length());
    auto* const into = narrow.as<std::int32_t>().data();
    std::atomic<bool> is_right = true;
    ThreadPool::shared().run((count + kPart - 1) / kPart, [&](std::int64_t part) {
        const auto begin = part * kPart, end = std::min(count, begin + kPart);
        const auto* const values = from.data();
        bool falls = begin > 0 && values[begin] < values[begin - 1];
        for (std::int64_t i = begin; i + 1 < end; ++i)
            falls |= values[i + 1] < values[i];
        for (std::int64_t i = begin; i < end; ++i)
            into[i] = static_cast<std::int32_t>(values[i]);
        if (falls)
            is_right = false;
    });
    return is_right ? std::optional(std::move(narrow)) : std::nullopt;
}

}  // namespace

Segments whole_segments(std::int64_t num_elements)
{
    check_num_elements(num_elements);
    Segments segments;
    segments.num_elements = num_elements;
    segments.num_segments = 1;
    segments.has_wide_indices = index_bits_for({num_elements}) == 64;
    return segments;
}

Segments uniform_segments(std::int64_t num_elements, std::int64_t length)
{
    check_num_elements(num_elements);
    if (length <= 0)
        throw InputError(fmt::format("the uniform length is {}; it must be at least 1", length));
    if (num_elements % length != 0)
        throw InputError(fmt::format(
            "{} {} not divide into segments of {}: {} {} left over; the number of "
            "elements must be a multiple of the length; for segments of other lengths give lengths or "
            "offsets",
            count_text(num_elements, "element"), num_elements == 1 ? "does" : "do", length,
            num_elements % length, num_elements % length == 1 ? "is" : "are"));
    Segments segments;
    segments.form = SegmentForm::uniform;
    segments.num_elements = num_elements;
    segments.num_segments = num_elements / length;
    segments.uniform_length = length;
    segments.has_wide_indices = index_bits_for({num_elements, length}) == 64;
    return segments;
}

Segments segments_from_offsets(Array offsets, std::int64_t num_elements, Array room)
{
    check_num_elements(num_elements);
    check_integers(offsets, "offsets");
    if (auto narrow = narrowed_offsets(offsets, num_elements, std::move(room))) {
        Segments segments;
        segments.form = SegmentForm::offsets;
        segments.num_elements = num_elements;
        segments.num_segments = signed_length(offsets) - 1;
        segments.offsets = std::move(*narrow);
        return segments;
    }
    visit_integers(offsets, [&](auto values) {
        if (values.empty())
            throw InputError("offsets are empty; S segments need S + 1 offsets, so at least one");
        if (values.front() != 0)
            throw InputError(
                fmt::format("offsets begin with {}; the first offset must be 0", values.front()));
        const auto falling = is_non_decreasing(values)
                                 ? values.end()
                                 : std::ranges::adjacent_find(values, std::ranges::greater());
        if (falling != values.end())
            throw InputError(
                fmt::format("offsets decrease at segment {}: {} after {}; offsets must be non-decreasing",
                            falling - values.begin(), falling[1], falling[0]));
        if (std::cmp_greater(values.back(), num_elements)) {
            const auto beyond = std::ranges::partition_point(
                values, [&](auto v) { return std::cmp_less_equal(v, num_elements); });
            throw InputError(
                fmt::format("offsets go beyond the data at segment {}: it ends at {} but {}; "
                            "the last offset must be the number of elements",
                            beyond - values.begin() - 1, *beyond, there_are(num_elements, "element")));
        }
        if (std::cmp_not_equal(values.back(), num_elements))
            throw InputError(
                fmt::format("offsets end at {} but {}; the last offset must be the number of elements",
                            values.back(), there_are(num_elements, "element")));
    });
    Segments segments;
    segments.form = SegmentForm::offsets;
    segments.num_elements = num_elements;
    segments.num_segments = signed_length(offsets) - 1;
    const Type type = index_type_for({num_elements, segments.num_segments});
    segments.has_wide_indices = type == Type::i64;
    segments.offsets = to_indices(std::move(offsets), type);
    return segments;
}

Segments segments_from_ranges(Array begins, Array ends, std::int64_t num_elements)
{
    check_num_elements(num_elements);
    if (begins.length() != ends.length())
        throw InputError(fmt::format("ranges have {} but {}; there must be one of each per segment",
                                     count_text(signed_length(begins), "begin"),
                                     count_text(signed_length(ends), "end")));
    check_bounds(begins, "begins", "begins", num_elements);
    check_bounds(ends, "ends", "ends", num_elements);

    Segments segments;
    segments.form = SegmentForm::ranges;
    segments.num_elements = num_elements;
    segments.num_segments = signed_length(begins);
    Type type = index_type_for({num_elements, segments.num_segments});
    segments.begins = to_indices(std::move(begins), type);
    segments.ends = to_indices(std::move(ends), type);
    const std::int64_t total = total_range_length(segments.begins, segments.ends);
    type = index_type_for({num_elements, segments.num_segments, total});
    segments.has_wide_indices = type == Type::i64;
    segments.begins = to_indices(std::move(segments.begins), type);
    segments.ends = to_indices(std::move(segments.ends), type);
    return segments;
}

Segments segments_from_lengths(const Array& lengths, std::int64_t num_elements)
{
    check_num_elements(num_elements);
    check_integers(lengths, "lengths");
    Segments segments;
    segments.form = SegmentForm::offsets;
    segments.num_elements = num_elements;
    segments.num_segments = signed_length(lengths);
    const Type type = index_type_for({num_elements, segments.num_segments});
    segments.has_wide_indices = type == Type::i64;
    segments.offsets = Array(type, lengths.length() + 1);
    visit_integers(lengths, [&](auto values) {
        visit_indices(segments.offsets, [&](auto offsets) {
            using Index = typename decltype(offsets)::value_type;
            std::int64_t sum = 0;
            offsets[0] = 0;
            for (std::size_t s = 0; s < values.size(); ++s) {
                if (std::cmp_less(values[s], 0))
                    throw InputError(
                        fmt::format("length {} is {}; lengths must not be negative", s, values[s]));
                if (std::cmp_greater(values[s], num_elements - sum))
                    throw InputError(fmt::format(
                        "lengths exceed the {} at segment {}: its length is {} after {}; "
                        "lengths must add up to the number of elements",
                        count_text(num_elements, "element"), s, values[s], count_text(sum, "element")));
                sum += static_cast<std::int64_t>(values[s]);
                offsets[s + 1] = static_cast<Index>(sum);
            }
            if (sum != num_elements)
                throw InputError(
                    fmt::format("lengths add up to {} but {}; they must add up to the number of elements",
                                sum, there_are(num_elements, "element")));
        });
    });
    return segments;
}

Segments segments_from_flags(Array flags, std::int64_t num_elements)
{
    check_num_elements(num_elements);
    if (is_float(flags.type()))
        throw InputError(fmt::format("flags are {}; they must be bool or integers", name(flags.type())));
    if (signed_length(flags) != num_elements)
        throw InputError(fmt::format("{} but {}; give one flag per element",
                                     there_are(signed_length(flags), "flag"),
                                     count_text(num_elements, "element")));
    Segments segments;
    visit_bits(flags, [&](auto bits) {
        segments = segments_from_starts(num_elements, FlagMarks{bits.data()});
        if (size_bytes(flags.type()) != 1) {
            segments.flags = Array(Type::u8, flags.length());
            std::ranges::transform(bits, segments.flags.as<std::uint8_t>().begin(),
                                   [](auto value) { return value != 0; });
        }
    });
    segments.form = SegmentForm::flags;
    if (size_bytes(flags.type()) == 1)
        segments.flags = std::move(flags);
    // The first element starts a segment even if its flag is 0, and kernels need the flag to be set. Copy the
    // flags to set it, because the caller's memory must not change.
    if (num_elements != 0 && segments.flags.as<std::uint8_t>()[0] == 0) {
        segments.flags = segments.flags.copy();
        segments.flags.as<std::uint8_t>()[0] = 1;
    }
    return segments;
}

Segments segments_from_keys(Array keys, std::int64_t num_elements)
{
    check_num_elements(num_elements);
    if (signed_length(keys) != num_elements)
        throw InputError(fmt::format("{} but {}; give one key per element",
                                     there_are(signed_length(keys), "key"),
                                     count_text(num_elements, "element")));
    Segments segments;
    visit_bits(keys, [&](auto bits) {
        using Bits = typename decltype(bits)::value_type;
        const auto* key = bits.data();
        segments = segments_from_starts(num_elements, KeyMarks{key});
        segments.keys.emplace(keys.type(), static_cast<std::size_t>(segments.num_segments));
        auto* run_keys = reinterpret_cast<std::remove_const_t<Bits>*>(segments.keys->data());
        visit_indices(segments.offsets, [&](auto offsets) {
            parallel_for(segments.num_segments, kChunk, [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t s = first; s < last; ++s)
                    run_keys[s] = key[offsets[static_cast<std::size_t>(s)]];
            });
        });
    });
    segments.form = SegmentForm::keys;
    segments.item_keys = std::move(keys);
    return segments;
}

Segments given_as(SegmentForm form, const Segments& segments)
{
    Array marks(form == SegmentForm::flags ? Type::u8 : Type::i32,
                static_cast<std::size_t>(segments.num_elements));
    std::int64_t next = 0;
    for (std::int64_t s = 0; s < segments.num_segments; ++s) {
        const std::int64_t begin = segments.begin(s), end = segments.end(s);
        if (begin != next || begin == end)
            throw InputError(
                fmt::format("segment {} covers elements {} to {} after {}; for {}, segments must be "
                            "contiguous and not empty",
                            s, begin, end, next, name(form)));
        next = end;
        for (std::int64_t i = begin; i < end; ++i)
            if (form == SegmentForm::flags)
                marks.as<std::uint8_t>()[static_cast<std::size_t>(i)] = i == begin;
            else
                marks.as<std::int32_t>()[static_cast<std::size_t>(i)] =
                    static_cast<std::int32_t>(s % 1000003);
    }
    return form == SegmentForm::flags ? segments_from_flags(std::move(marks), segments.num_elements)
                                      : segments_from_keys(std::move(marks), segments.num_elements);
}

Segments with_index_bits(Segments segments, int bits)
{
    if (bits != 32 && bits != 64)
        throw InputError(fmt::format("the width of an index is {} bits; it must be 32 or 64", bits));
    if (bits == segments.index_bits())
        return segments;
    if (bits == 32) {
        std::int64_t largest =
            std::max({segments.num_elements, segments.num_segments, segments.uniform_length});
        if (segments.form == SegmentForm::ranges)
            largest = std::max(largest, total_range_length(segments.begins, segments.ends));
        if (largest > kMaxNarrowIndex)
            throw InputError(fmt::format("32-bit indices reach to {} but {} are needed; use 64 bits",
                                         kMaxNarrowIndex, largest));
    }
    segments.has_wide_indices = bits == 64;
    const Type type = segments.index_type();
    if (converted_form(segments.form) == SegmentForm::offsets)
        segments.offsets = to_indices(std::move(segments.offsets), type);
    if (segments.form == SegmentForm::ranges) {
        segments.begins = to_indices(std::move(segments.begins), type);
        segments.ends = to_indices(std::move(segments.ends), type);
    }
    return segments;
}

}  // namespace segfold
