#include "runtime/scale/start_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "dsl/error.h"
#include "runtime/support/files/refuse.h"

namespace segfold {
namespace {

constexpr std::int64_t kMarksAtOnce = std::int64_t{1} << 16;  // number of marks in one backward read
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

/// Consecutive marks. A mark is the flag or the key of one element.
struct Marks {
    std::int64_t begin = 0;
    Array array;

    [[nodiscard]] std::int64_t end() const { return begin + static_cast<std::int64_t>(array.length()); }
};

class StartCursor : public SegmentCursor {
public:
    StartCursor(SegmentSource source, std::optional<std::int64_t> num_elements)
        : source_(std::move(source)), num_elements_(num_elements)
    {
        if (!source_.array)
            return;
        const auto type = source_.array->type();
        if (source_.kind == LayoutKind::flags && is_float(type))
            refuse(source_.array->where(),
                   fmt::format("flags are {}; they must be bool or integers", name(type)));
        const auto marks = source_.array->length();
        if (marks && num_elements_ && *marks != *num_elements_)
            refuse(source_.array->where(), fmt::format("there are {} {} but {} elements; give one for each",
                                                       *marks, name(source_.kind), *num_elements_));
        if (!num_elements_)
            num_elements_ = marks;
    }

    SegmentWindow next(const Step& step) override
    {
        SegmentWindow window{place_};
        const auto begin = place_.element;
        window.end = std::min({begin + step.elements, step.until, num_elements_.value_or(kNoEnd)});
        Marks marks{begin, {}};
        if (source_.array) {
            marks = take(begin, window.end);
            window.end = marks.end();
        }
        auto latest = place_.open_begin;
        std::vector<std::int64_t> begins = {latest};  // begins of the window's segments, in order
        for (auto i = begin; i < window.end; ++i)
            if (i != place_.open_begin && is_start(marks, i)) {
                window.ends.push_back(i);
                begins.push_back(i);
                latest = i;
            }
        const bool is_end = num_elements_ && window.end == *num_elements_;
        if (is_end && (window.end > latest || source_.kind == LayoutKind::whole)) {
            window.ends.push_back(window.end);
            begins.push_back(window.end);
            latest = window.end;
        } else if (!is_end && step.block != 0 && window.end > latest && window.end < step.until) {
            // At least one element follows the cut, so the segment is known to continue after it.
            window.end = latest + (window.end - latest - 1) / step.block * step.block;
        }
        if (source_.kind == LayoutKind::keys)
            add_keys(window, marks, begins);
        if (source_.array)
            keep(marks, window.end);
        place_ = {window.end, place_.segment + std::ssize(window.ends), latest};
        is_closed_ = is_end;
        return window;
    }

    [[nodiscard]] bool is_done(std::int64_t until) const override
    {
        if (num_elements_ && *num_elements_ == 0)
            return source_.kind != LayoutKind::whole || is_closed_;
        return is_closed_ || (place_.element >= until && until < num_elements_.value_or(kNoEnd));
    }
    [[nodiscard]] std::optional<std::int64_t> num_elements() const override { return num_elements_; }
    [[nodiscard]] std::optional<std::int64_t> num_segments() const override { return std::nullopt; }

    void go_to(const SegmentPlace& place) override
    {
        place_ = place;
        kept_ = {};
        is_closed_ = num_elements_ && place.element >= *num_elements_ && place.open_begin >= *num_elements_;
        if (source_.kind == LayoutKind::keys && place.element > 0) {
            Array one(source_.array->type(), 1);
            source_.array->read(place.element - 1, one);
            key_before_ = one.copy();
            if (!is_closed_)
                source_.array->read(place.open_begin, one);
            open_key_ = std::move(one);
        }
    }

    void end_at(std::int64_t num_elements) override
    {
        num_elements_ = num_elements;
        place_.element = num_elements;
    }

    void require_no_more() override
    {
        if (source_.array && source_.array->has_more(*num_elements_))
            refuse_count(fmt::format("more than {}", *num_elements_));
    }

    SegmentPlace place_of(std::int64_t element, std::int64_t block) override
    {
        if (element == 0)
            return {};
        if (element >= *num_elements_)
            return {*num_elements_, 0, *num_elements_};
        // The cut belongs to the segment of the element before it. The part after the cut finds out whether a
        // segment begins at `element`.
        SegmentPlace place{element, 0, begin_of(element - 1)};
        if (block != 0)
            place.element = place.open_begin + (element - 1 - place.open_begin) / block * block;
        // A segment may begin at the cut itself. The part after the cut finds that out; until then the
        // earlier segment stays open.
        if (place.element == place.open_begin && place.element > 0)
            place.open_begin = begin_of(place.element - 1);
        return place;
    }

    std::int64_t num_begun(std::int64_t begin, std::int64_t end) override
    {
        std::int64_t count = 0;
        for (auto at = begin; at < end; at += kMarksAtOnce) {
            const auto marks = read_with_one_before(at, std::min(end, at + kMarksAtOnce));
            for (auto i = at; i < std::min(end, at + kMarksAtOnce); ++i)
                count += i == 0 || is_start_of(marks, i) ? 1 : 0;
        }
        return count;
    }

private:
    [[noreturn]] void refuse_count(const std::string& marks) const
    {
        throw InputError(fmt::format("there are {} {} but {} elements; give one for each", marks,
                                     name(source_.kind), *num_elements_));
    }

    [[nodiscard]] bool differs(const std::byte* left, const std::byte* right) const
    {
        return std::memcmp(left, right, size_bytes(source_.array->type())) != 0;
    }

    [[nodiscard]] const std::byte* mark(const Marks& marks, std::int64_t i) const
    {
        return marks.array.data() +
               static_cast<std::size_t>(i - marks.begin) * size_bytes(source_.array->type());
    }

    [[nodiscard]] bool is_flag(const std::byte* mark) const
    {
        const auto width = size_bytes(source_.array->type());
        return std::any_of(mark, mark + width, [](std::byte byte) { return byte != std::byte{0}; });
    }

    /// True if a segment begins at element i > 0 of the window. Reads the element's flag, or compares its key
    /// with the preceding key. At the begin of `marks`, key_before_ is the preceding key.
    [[nodiscard]] bool is_start(const Marks& marks, std::int64_t i) const
    {
        if (source_.kind == LayoutKind::whole)
            return false;
        if (source_.kind == LayoutKind::flags)
            return is_flag(mark(marks, i));
        return differs(mark(marks, i), i == marks.begin ? key_before_.data() : mark(marks, i - 1));
    }

    /// True if a segment begins at element i > 0. Unlike is_start(), requires that `marks` has element i - 1
    /// too.
    [[nodiscard]] bool is_start_of(const Marks& marks, std::int64_t i) const
    {
        return source_.kind == LayoutKind::flags ? is_flag(mark(marks, i))
                                                 : differs(mark(marks, i), mark(marks, i - 1));
    }

    [[nodiscard]] Marks read_with_one_before(std::int64_t begin, std::int64_t end)
    {
        Marks marks{std::max<std::int64_t>(0, begin - 1), {}};
        marks.array = Array(source_.array->type(), static_cast<std::size_t>(end - marks.begin));
        source_.array->read(marks.begin, marks.array);
        return marks;
    }

    /// Returns the begin of the segment that contains an element.
    std::int64_t begin_of(std::int64_t element)
    {
        if (source_.kind == LayoutKind::whole)
            return 0;
        for (auto end = element + 1; end > 0;) {
            const auto begin = std::max<std::int64_t>(0, end - kMarksAtOnce);
            const auto marks = read_with_one_before(begin, end);
            for (auto i = end - 1; i >= begin; --i)
                if (i == 0 || is_start_of(marks, i))
                    return i;
            end = begin;
        }
        return 0;
    }

    /// Returns the marks from `begin` to at most `end`. Marks left over from the last window come first, then
    /// newly read marks.
    Marks take(std::int64_t begin, std::int64_t end)
    {
        const auto type = source_.array->type();
        const auto kept = static_cast<std::int64_t>(kept_.array.length());
        Marks marks{begin, Array(type, static_cast<std::size_t>(end - begin))};
        const auto from_kept = std::min(kept, end - begin);
        const auto width = size_bytes(type);
        if (from_kept != 0)
            std::memcpy(marks.array.data(), kept_.array.data(), static_cast<std::size_t>(from_kept) * width);
        Array rest(type, static_cast<std::size_t>(end - begin - from_kept));
        const auto count = rest.length() == 0 ? 0 : source_.array->read(begin + from_kept, rest);
        if (count != 0)
            std::memcpy(marks.array.data() + static_cast<std::size_t>(from_kept) * width, rest.data(),
                        static_cast<std::size_t>(count) * width);
        if (from_kept + count < end - begin) {
            marks.array = part_of(marks.array, 0, from_kept + count).copy();
            if (!num_elements_)
                num_elements_ = begin + from_kept + count;
            if (begin + from_kept + count < *num_elements_)
                refuse_count(std::to_string(begin + from_kept + count));
        }
        return marks;
    }

    /// Keeps the marks after the window's end for the next window, and the key of the window's last element.
    void keep(const Marks& marks, std::int64_t end)
    {
        kept_ = {end, part_of(marks.array, end - marks.begin, marks.end() - end).copy()};
        if (source_.kind == LayoutKind::keys && end > marks.begin)
            key_before_ = part_of(marks.array, end - 1 - marks.begin, 1).copy();
    }

    /// Sets the keys of the segments that end in the window.
    void add_keys(SegmentWindow& window, const Marks& marks, const std::vector<std::int64_t>& begins)
    {
        const auto width = size_bytes(source_.array->type());
        window.keys.emplace(source_.array->type(), window.ends.size());
        const auto key_of = [&](std::int64_t begin) {
            return begin < marks.begin || begin >= marks.end() ? open_key_.data() : mark(marks, begin);
        };
        for (std::size_t i = 0; i < window.ends.size(); ++i)
            std::memcpy(window.keys->data() + i * width, key_of(begins[i]), width);
        if (begins.back() >= marks.begin && begins.back() < marks.end())
            open_key_ = part_of(marks.array, begins.back() - marks.begin, 1).copy();
    }

    SegmentSource source_;
    std::optional<std::int64_t> num_elements_;
    Marks kept_;
    Array key_before_, open_key_;
    bool is_closed_ = false;
};

}  // namespace

std::unique_ptr<SegmentCursor> start_cursor(SegmentSource source, std::optional<std::int64_t> num_elements)
{
    return std::make_unique<StartCursor>(std::move(source), num_elements);
}

}  // namespace segfold
