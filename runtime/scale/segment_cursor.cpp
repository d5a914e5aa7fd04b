#include "runtime/scale/segment_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "dsl/error.h"
#include "runtime/scale/start_cursor.h"
#include "runtime/support/files/refuse.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/text_table.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

constexpr std::int64_t kEntriesAtOnce = std::int64_t{1} << 16;  // number of entries of one read
/// Least number of entries per thread. To start a thread takes as long as to process some 10^5 entries.
constexpr std::int64_t kEntriesEach = std::int64_t{1} << 20;

/// Number of entries in an inner loop. A fixed number of iterations lets the compiler vectorize the loop.
constexpr std::size_t kEntriesTogether = 256;

template <class Index>
bool rises(std::span<const Index> values)
{
    std::size_t i = 0;
    for (; i + kEntriesTogether < values.size(); i += kEntriesTogether) {
        const auto* const at = values.data() + i;
        Index falls = 0;
        for (std::size_t j = 0; j < kEntriesTogether; ++j)
            falls |= at[j + 1] < at[j] ? 1 : 0;
        if (falls != 0)
            return false;
    }
    for (; i + 1 < values.size(); ++i)
        if (values[i + 1] < values[i])
            return false;
    return true;
}

/// Writes the entries of `from`, minus `base`, to `into`. Every entry must be at least `base`.
template <class From, class Into>
void subtract(std::span<const From> from, From base, Into* into)
{
    std::size_t i = 0;
    for (; i + kEntriesTogether <= from.size(); i += kEntriesTogether) {
        const From* __restrict const source = from.data() + i;
        Into* __restrict const target = into + i;
        for (std::size_t j = 0; j < kEntriesTogether; ++j)
            target[j] = static_cast<Into>(source[j] - base);
    }
    for (; i < from.size(); ++i)
        into[i] = static_cast<Into>(from[i] - base);
}

/// If the window's last segment is open, moves the window's end back to a multiple of `block` elements after
/// the begin of this segment.
void cut_at_block(SegmentWindow& window, std::int64_t block, std::int64_t num_elements)
{
    const auto from = window.ends.empty() ? window.from.open_begin : window.ends.back();
    if (block != 0 && window.end < num_elements && window.end > from)
        window.end = from + (window.end - from) / block * block;
}

/// A cursor for segments whose ends are known in advance: the layouts whole, uniform, offsets and lengths.
class EndCursor : public SegmentCursor {
public:
    EndCursor(SegmentSource source, std::int64_t num_elements)
        : source_(std::move(source)), num_elements_(num_elements)
    {
        const auto entries = source_.array ? source_.array->length() : std::nullopt;
        switch (source_.kind) {
            case LayoutKind::whole: num_segments_ = 1; break;
            case LayoutKind::uniform:
                num_segments_ = uniform_segments(num_elements, source_.uniform_length).num_segments;
                break;
            case LayoutKind::offsets:
                if (!entries)
                    refuse(source_.array->where(), "does not say how many offsets there are");
                if (*entries == 0)
                    refuse(source_.array->where(), "has no offsets; S segments need S + 1, so at least one");
                num_segments_ = *entries - 1;
                check_first_offset();
                break;
            default:
                if (!entries)
                    refuse(source_.array->where(), "does not say how many lengths there are");
                num_segments_ = *entries;
        }
    }

    SegmentWindow next(const Step& step) override
    {
        SegmentWindow window{place_};
        const auto last = std::min(num_elements_, step.until);
        window.end = std::min(last, place_.element + step.elements);
        is_cut_short_ = false;
        if (source_.kind == LayoutKind::uniform)
            take_uniform(window, step.segments);
        else if (!take_offsets(window, step.segments))
            take_one_by_one(window, step.segments);
        const auto latest = window.ends.empty() ? place_.open_begin : window.ends.back();
        if (window.end == num_elements_ && !is_cut_short_)
            check_last(place_.segment + std::ssize(window.ends), latest);
        cut_at_block(window, step.block, num_elements_);
        if (source_.kind == LayoutKind::uniform)
            window.uniform_length = source_.uniform_length;
        place_ = {window.end, place_.segment + std::ssize(window.ends), latest};
        return window;
    }

    [[nodiscard]] bool is_done(std::int64_t until) const override
    {
        const auto last = std::min(until, num_elements_);
        return place_.element >= last && !is_cut_short_ &&
               (last < num_elements_ || place_.segment == num_segments_);
    }
    [[nodiscard]] std::optional<std::int64_t> num_elements() const override { return num_elements_; }
    [[nodiscard]] std::optional<std::int64_t> num_segments() const override { return num_segments_; }
    void go_to(const SegmentPlace& place) override { place_ = place; }
    std::int64_t num_begun(std::int64_t, std::int64_t) override { return 0; }

    SegmentPlace place_of(std::int64_t element, std::int64_t block) override
    {
        SegmentPlace place{element, 0, 0};
        if (element == 0)
            return place;
        if (element >= num_elements_)
            return {num_elements_, num_segments_, num_elements_};
        find(place);
        if (block != 0)
            place.element = place.open_begin + (element - place.open_begin) / block * block;
        return place;
    }

private:
    void take_uniform(SegmentWindow& window, std::int64_t most)
    {
        const auto length = source_.uniform_length;
        const auto ended = std::min(window.end / length, num_segments_) - place_.segment;
        window.ends.assign((place_.segment + 1) * length, length, std::min(ended, most));
        if (ended > most)
            cut_short(window);
    }

    void take_one_by_one(SegmentWindow& window, std::int64_t most)
    {
        std::int64_t latest = place_.open_begin;  // begin of `segment`
        for (auto segment = place_.segment; segment < num_segments_; ++segment) {
            const auto end = end_of(segment, latest);
            // Empty segments at the window's end belong to the window.
            if (end > window.end)
                return;
            if (std::ssize(window.ends) == most) {
                cut_short(window);
                return;
            }
            window.ends.push_back(end);
            latest = end;
        }
    }

    void cut_short(SegmentWindow& window)
    {
        window.end = window.ends.back();
        is_cut_short_ = true;
    }

    /// Takes offsets of i32 or i64 from memory or from a file, without conversion. Returns false and does
    /// nothing for other layouts, for invalid offsets, and for generated offsets, which cannot be read twice.
    bool take_offsets(SegmentWindow& window, std::int64_t most)
    {
        const auto type = source_.array ? source_.array->type() : Type::u8;
        if (source_.kind != LayoutKind::offsets || (type != Type::i32 && type != Type::i64))
            return false;
        const auto* lent = source_.array->lent(place_.segment + 1);
        if (lent == nullptr && !source_.array->reads_in_parallel())
            return false;
        const auto left = num_segments_ - place_.segment;
        // Reads one entry beyond `most`, to see whether segments remain.
        const auto all = std::min(left, most < left ? most + 1 : left);
        auto entries = lent != nullptr ? Array::borrow(type, lent, static_cast<std::size_t>(all))
                                       : read_offsets(type, window.end - place_.element, all, window.end);
        return type == Type::i32 ? take_offsets<std::int32_t>(window, most, std::move(entries))
                                 : take_offsets<std::int64_t>(window, most, std::move(entries));
    }

    /// Reads the next offsets of a file: at most `all`, and enough to go past element `end`.
    Array read_offsets(Type type, std::int64_t num_elements, std::int64_t all, std::int64_t end)
    {
        const auto mean = static_cast<double>(num_segments_) /
                          static_cast<double>(std::max<std::int64_t>(1, num_elements_));
        auto count =
            std::min(all, static_cast<std::int64_t>(1.25 * mean * static_cast<double>(num_elements)) + 1024);
        while (true) {
            Array entries(type, static_cast<std::size_t>(count));
            source_.array->read(place_.segment + 1, entries);
            std::int64_t last = 0;
            if (count != 0)
                last =
                    type == Type::i32 ? entries.as<std::int32_t>().back() : entries.as<std::int64_t>().back();
            if (count == all || last > end)
                return entries;
            count = std::min(all, 2 * count);
        }
    }

    template <class Index>
    bool take_offsets(SegmentWindow& window, std::int64_t most, Array entries)
    {
        const auto values = std::as_const(entries).template as<Index>();
        const auto found = std::upper_bound(values.begin(), values.end(), window.end,
                                            [](std::int64_t end, Index value) { return end < value; });
        auto count = found - values.begin();
        if (found != values.end() && *found > num_elements_)
            return false;
        std::atomic<bool> is_rising = count == 0 || values[0] >= place_.open_begin;
        parallel_for(count - 1, kEntriesEach, [&](std::int64_t begin, std::int64_t end) {
            if (!rises(values.subspan(static_cast<std::size_t>(begin),
                                      static_cast<std::size_t>(end - begin) + 1)))
                is_rising = false;
        });
        if (!is_rising)
            return false;
        const bool is_more = count > most;
        count = std::min<std::int64_t>(count, most);
        entries.shorten(static_cast<std::size_t>(count));
        window.ends.assign(std::move(entries));
        if (is_more)
            cut_short(window);
        return true;
    }

    void check_first_offset()
    {
        Array first(source_.array->type(), 1);
        source_.array->read(0, first);
        visit_integers(checked(first), [&](auto values) {
            if (values[0] != 0)
                refuse(source_.array->where(),
                       fmt::format("offsets begin with {}; the first offset must be 0", values[0]));
        });
    }

    const Array& checked(const Array& array) const
    {
        if (!is_integer(array.type()))
            refuse(source_.array->where(),
                   fmt::format("holds {}; offsets and lengths must be integers", name(array.type())));
        return array;
    }

    /// Returns entry `place` of the array. Reads the array in chunks and keeps the last chunk.
    std::int64_t entry(std::int64_t place)
    {
        if (place < chunk_begin_ || place >= chunk_begin_ + std::ssize(chunk_)) {
            const auto count = std::min(kEntriesAtOnce, *source_.array->length() - place);
            Array part(source_.array->type(), static_cast<std::size_t>(count));
            source_.array->read(place, part);
            chunk_begin_ = place;
            visit_integers(checked(part), [&](auto values) {
                chunk_.clear();
                for (const auto value : values)
                    chunk_.push_back(std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value)
                                                                        : std::int64_t{-1});
            });
        }
        return chunk_[static_cast<std::size_t>(place - chunk_begin_)];
    }

    /// Returns the end of a segment that begins at `begin`: one past its last element.
    std::int64_t end_of(std::int64_t segment, std::int64_t begin)
    {
        if (source_.kind == LayoutKind::whole)
            return num_elements_;
        const bool is_offsets = source_.kind == LayoutKind::offsets;
        const auto value = entry(is_offsets ? segment + 1 : segment);
        if (value < 0 && source_.array->type() == Type::u64)  // entries above 2^63 - 1 are read as -1
            refuse(source_.array->where(),
                   fmt::format("entry {} is beyond 9223372036854775807; offsets and lengths are at most that",
                               is_offsets ? segment + 1 : segment));
        const auto end = is_offsets ? value : begin + value;
        if (value < 0 || end < begin)
            refuse(source_.array->where(),
                   is_offsets ? fmt::format("offsets decrease at segment {}: {} after {}; offsets must be "
                                            "non-decreasing",
                                            segment, value, begin)
                              : fmt::format("length {} is {}; lengths must not be negative", segment, value));
        if (end > num_elements_)
            refuse(source_.array->where(),
                   fmt::format("segment {} ends at {}, but {}; segments must end where the elements do",
                               segment, end, there_are(num_elements_, "element")));
        return end;
    }

    void check_last(std::int64_t ended, std::int64_t latest)
    {
        if (ended == num_segments_ && latest != num_elements_)
            refuse(source_.array ? source_.array->where() : "the segments",
                   fmt::format("segments end at {}, but {}; they must end where the elements do", latest,
                               there_are(num_elements_, "element")));
    }

    /// Sets `place.segment` and `place.open_begin` for the element `place.element`, which is not 0.
    void find(SegmentPlace& place)
    {
        if (source_.kind == LayoutKind::uniform) {
            place.segment = place.element / source_.uniform_length;
            place.open_begin = place.segment * source_.uniform_length;
        } else if (source_.kind == LayoutKind::offsets) {
            // Find the first segment that ends after the element. Empty segments at a cut belong to the
            // earlier part.
            std::int64_t low = 0, high = num_segments_;
            while (low < high) {
                const auto middle = low + (high - low) / 2;
                if (offset(middle + 1) <= place.element)
                    low = middle + 1;
                else
                    high = middle;
            }
            place.segment = low;
            place.open_begin = offset(low);
        } else if (source_.kind == LayoutKind::lengths) {
            std::int64_t begin = 0, segment = 0;
            for (; segment < num_segments_; ++segment) {
                const auto end = end_of(segment, begin);
                if (end > place.element)
                    break;
                begin = end;
            }
            place.segment = segment;
            place.open_begin = begin;
        }
    }

    /// Returns offset number `place`. Reads this offset alone instead of a chunk, because a search needs few
    /// offsets.
    std::int64_t offset(std::int64_t place)
    {
        Array one(source_.array->type(), 1);
        source_.array->read(place, one);
        std::int64_t found = 0;
        visit_integers(checked(one), [&](auto values) { found = static_cast<std::int64_t>(values[0]); });
        return found;
    }

    SegmentSource source_;
    std::int64_t num_elements_;
    std::int64_t num_segments_ = 0;
    std::vector<std::int64_t> chunk_;
    std::int64_t chunk_begin_ = 0;
    bool is_cut_short_ = false;  ///< true if the last window had no room for all segments that end there
};

}  // namespace

void SegmentCursor::end_at(std::int64_t num_elements)
{
    throw InputError(fmt::format("the columns end after {}, before their segments do",
                                 count_text(num_elements, "element")));
}

std::unique_ptr<SegmentCursor> segment_cursor(SegmentSource source, std::optional<std::int64_t> num_elements)
{
    switch (source.kind) {
        case LayoutKind::flags:
        case LayoutKind::keys: return start_cursor(std::move(source), num_elements);
        case LayoutKind::whole:
            if (!num_elements)
                return start_cursor(std::move(source), num_elements);
            break;
        case LayoutKind::uniform:
        case LayoutKind::offsets:
        case LayoutKind::lengths:
            if (!num_elements)
                throw InputError(
                    fmt::format("segments given by {} need to know how many elements there are; "
                                "say the length of what is generated",
                                name(source.kind)));
            break;
        default:
            if (source.kind == LayoutKind::groups)
                throw InternalError("groups of a stream are read as a column");
            throw InputError(
                fmt::format("segments given by {} cannot be streamed; whole, uniform, offsets, "
                            "lengths, flags, keys and groups can",
                            name(source.kind)));
    }
    return std::make_unique<EndCursor>(std::move(source), *num_elements);
}

Slice slice_of(const SegmentWindow& window, std::vector<Array> arrays, bool has_wide_indices,
               const std::function<Array(Type type, std::size_t length)>& room)
{
    const auto& from = window.from;
    const auto begin = from.element;
    Slice slice;
    slice.arrays = std::move(arrays);
    slice.first_element = begin;
    slice.num_elements = window.end - begin;
    slice.first_inner = from.segment;
    std::size_t first = 0;
    auto inner_begin = from.open_begin;
    if (from.open_begin < begin && !window.ends.empty()) {
        slice.head = SlicePiece{from.segment, 0, window.ends[0] - begin, begin - from.open_begin};
        ++slice.first_inner;
        inner_begin = window.ends[0];
        first = 1;
    }
    const auto last_end = window.ends.empty() ? from.open_begin : window.ends.back();
    if (last_end < window.end) {
        const auto tail_begin = std::max(last_end, begin);
        slice.tail = SlicePiece{from.segment + std::ssize(window.ends), tail_begin - begin,
                                window.end - begin, tail_begin - last_end};
    }
    const auto count = std::ssize(window.ends) - static_cast<std::int64_t>(first);
    auto& inner = slice.inner;
    inner.has_wide_indices = has_wide_indices;
    inner.num_segments = count;
    slice.inner_begin = count == 0 ? 0 : inner_begin - begin;
    inner.num_elements = count == 0 ? 0 : last_end - inner_begin;
    if (window.uniform_length != 0) {
        inner.form = SegmentForm::uniform;
        inner.uniform_length = window.uniform_length;
        return slice;
    }
    inner.form = SegmentForm::offsets;
    const auto entries = static_cast<std::size_t>(count) + 1;
    inner.offsets = room ? room(inner.index_type(), entries) : Array(inner.index_type(), entries);
    visit_integers(inner.offsets, [&](auto typed) {
        using Index = std::remove_const_t<typename decltype(typed)::value_type>;
        const auto offsets = inner.offsets.as<Index>();
        offsets[0] = 0;
        window.ends.visit([&](auto ends) {
            const auto inner_ends = ends.subspan(first);
            parallel_for(count, kEntriesEach, [&](std::int64_t begin_of, std::int64_t end_of) {
                using From = std::remove_const_t<typename decltype(inner_ends)::value_type>;
                const auto part = inner_ends.subspan(static_cast<std::size_t>(begin_of),
                                                     static_cast<std::size_t>(end_of - begin_of));
                subtract<From, Index>(part, static_cast<From>(inner_begin),
                                      &offsets[static_cast<std::size_t>(begin_of) + 1]);
            });
        });
    });
    return slice;
}

}  // namespace segfold
