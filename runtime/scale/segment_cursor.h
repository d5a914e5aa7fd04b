#pragma once
// Segments read one part after the other, from arrays of which only parts are in memory.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dsl/error.h"
#include "dsl/layout.h"
#include "runtime/data/array_source.h"
#include "runtime/scale/slices/slice.h"

namespace segfold {

/// Where segments begin and end: a layout that says it element by element or segment by segment.
struct SegmentSource {
    LayoutKind kind = LayoutKind::whole;  ///< whole, uniform, offsets, lengths, flags or keys
    std::int64_t uniform_length = 0;
    std::unique_ptr<ArraySource> array = {};  ///< offsets, lengths, flags or keys
};

/// Where a cursor is.
struct SegmentPlace {
    std::int64_t element = 0;     ///< the next one
    std::int64_t segment = 0;     ///< number of the segment that is open there, else of the next one
    std::int64_t open_begin = 0;  ///< where it begins; before `element` if it is open
};

/// Where consecutive segments end, one past each one's last element; as wide as they were read.
class SegmentEnds {
public:
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] std::size_t size() const
    {
        return num_alike_ != 0 ? num_alike_ : own_.empty() ? read_.length() : own_.size();
    }
    [[nodiscard]] std::int64_t operator[](std::size_t segment) const
    {
        if (num_alike_ != 0)
            return first_end_ + static_cast<std::int64_t>(segment) * length_;
        if (!own_.empty())
            return own_[segment];
        return read_.type() == Type::i32 ? read_.as<std::int32_t>()[segment]
                                         : read_.as<std::int64_t>()[segment];
    }
    [[nodiscard]] std::int64_t back() const { return (*this)[size() - 1]; }

    /// One more.
    void push_back(std::int64_t end) { own_.push_back(end); }
    /// All of them: i32 or i64.
    void assign(Array ends) { read_ = std::move(ends); }
    /// All of them, `length` elements from each other.
    void assign(std::int64_t first_end, std::int64_t length, std::int64_t count)
    {
        first_end_ = first_end;
        length_ = length;
        num_alike_ = static_cast<std::size_t>(count);
    }
    /// Calls `visit` with all of them as a span; those of equal lengths are not kept as one.
    template <class Visit>
    void visit(const Visit& visitor) const
    {
        if (num_alike_ != 0)
            throw InternalError("segments of one length are told by it");
        if (!own_.empty() || read_.length() == 0)
            visitor(std::span<const std::int64_t>(own_));
        else if (read_.type() == Type::i32)
            visitor(read_.as<std::int32_t>());
        else
            visitor(read_.as<std::int64_t>());
    }

private:
    std::vector<std::int64_t> own_;
    Array read_;  ///< where `own_` is empty
    std::int64_t first_end_ = 0, length_ = 0;
    std::size_t num_alike_ = 0;  ///< not 0: ends are told by the two before, and by nothing else
};

/// What is known of the segments between two elements.
struct SegmentWindow {
    SegmentPlace from;
    std::int64_t end = 0;             ///< one past the last element
    SegmentEnds ends = {};            ///< of the segments that end here, in their order
    std::optional<Array> keys = {};   ///< of the same segments
    std::int64_t uniform_length = 0;  ///< of all of them; 0: not known to be alike
};

/// Goes through the segments of a source.
class SegmentCursor {
public:
    virtual ~SegmentCursor() = default;

    /// How far one step goes at most.
    struct Step {
        std::int64_t elements = 0;  ///< at least 1, and at least `block`
        std::int64_t segments = 0;  ///< at least 1
        std::int64_t block = 0;  ///< a segment that goes on is cut whole blocks behind its begin; 0: anywhere
        std::int64_t until = 0;  ///< no further than this element, which place_of() gave
    };
    /// The next part. Throws InputError for segments that are wrong, as far as they have been read.
    [[nodiscard]] virtual SegmentWindow next(const Step& step) = 0;
    /// True when no segment is left before element `until`.
    [[nodiscard]] virtual bool is_done(std::int64_t until) const = 0;
    /// Elements; nothing where only reading them tells.
    [[nodiscard]] virtual std::optional<std::int64_t> num_elements() const = 0;
    /// Segments; nothing where only reading them tells.
    [[nodiscard]] virtual std::optional<std::int64_t> num_segments() const = 0;

    /// Says, of one whole segment of unknown length, that the elements of the last window end before its end.
    virtual void end_at(std::int64_t num_elements);
    /// Refuses, once all elements have been read, what says segments of elements behind them.
    virtual void require_no_more() {}

    [[nodiscard]] const SegmentPlace& place() const { return place_; }
    /// Goes on from where another cursor of the same source was, or from what place_of() gave.
    virtual void go_to(const SegmentPlace& place) = 0;
    /// The place of the segment that is open at an element; with `block`, of an element before it that lies
    /// whole blocks behind that segment's begin. Flags and keys leave the number of the segment 0.
    [[nodiscard]] virtual SegmentPlace place_of(std::int64_t element, std::int64_t block) = 0;
    /// Of flags and keys: how many segments begin from `begin` on and before `end`. Of others 0.
    [[nodiscard]] virtual std::int64_t num_begun(std::int64_t begin, std::int64_t end) = 0;

protected:
    SegmentPlace place_;
};

/// `num_elements` are those of the columns, which segments must cover; nothing where only reading tells.
/// Throws InputError for a source that cannot say segments so.
[[nodiscard]] std::unique_ptr<SegmentCursor> segment_cursor(SegmentSource source,
                                                            std::optional<std::int64_t> num_elements);

/// A slice of what a window covers; `arrays` hold the columns of its elements. Offsets are written to memory
/// that `room` gives, where it is given.
[[nodiscard]] Slice slice_of(const SegmentWindow& window, std::vector<Array> arrays, bool has_wide_indices,
                             const std::function<Array(Type type, std::size_t length)>& room = {});

}  // namespace segfold
