#pragma once
// Segments read part by part, from arrays that need not fit in memory.
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

/// A layout, and the array that gives its segments.
struct SegmentSource {
    LayoutKind kind = LayoutKind::whole;  ///< whole, uniform, offsets, lengths, flags or keys
    std::int64_t uniform_length = 0;
    std::unique_ptr<ArraySource> array = {};  ///< offsets, lengths, flags or keys
};

/// A cursor's place.
struct SegmentPlace {
    std::int64_t element = 0;     ///< the next one
    std::int64_t segment = 0;     ///< number of the segment that is open there, else of the next one
    std::int64_t open_begin = 0;  ///< its begin; before `element` if it is open
};

/// The ends of consecutive segments, one past the last element of each; as wide as they were read.
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

    /// Adds an end.
    void push_back(std::int64_t end) { own_.push_back(end); }
    /// Takes all ends: i32 or i64.
    void assign(Array ends) { read_ = std::move(ends); }
    /// Takes `count` ends, `length` elements apart.
    void assign(std::int64_t first_end, std::int64_t length, std::int64_t count)
    {
        first_end_ = first_end;
        length_ = length;
        num_alike_ = static_cast<std::size_t>(count);
    }
    /// Calls `visitor` with a span of all ends. Ends of segments of one length have none.
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
    std::size_t num_alike_ = 0;  ///< if not 0, the two numbers before give the ends
};

/// The segments between two elements.
struct SegmentWindow {
    SegmentPlace from;
    std::int64_t end = 0;             ///< one past the last element
    SegmentEnds ends = {};            ///< of the segments that end inside, in their order
    std::optional<Array> keys = {};   ///< of the same segments
    std::int64_t uniform_length = 0;  ///< of all these segments; 0: unknown or different
};

/// Reads the segments of a source from the first to the last.
class SegmentCursor {
public:
    virtual ~SegmentCursor() = default;

    /// Bounds of one step.
    struct Step {
        std::int64_t elements = 0;  ///< at least 1, and at least `block`
        std::int64_t segments = 0;  ///< at least 1
        std::int64_t block = 0;     ///< a segment is cut whole blocks behind its begin; 0: anywhere
        std::int64_t until = 0;     ///< the step ends before this element, which place_of() gave
    };
    /// Reads the next part. Throws InputError if the segments in it are wrong.
    [[nodiscard]] virtual SegmentWindow next(const Step& step) = 0;
    /// True if no segment is left before element `until`.
    [[nodiscard]] virtual bool is_done(std::int64_t until) const = 0;
    /// The number of elements, if it is known before they are read.
    [[nodiscard]] virtual std::optional<std::int64_t> num_elements() const = 0;
    /// The number of segments, if it is known before they are read.
    [[nodiscard]] virtual std::optional<std::int64_t> num_segments() const = 0;

    /// Ends one whole segment of unknown length inside the last window.
    virtual void end_at(std::int64_t num_elements);
    /// Throws InputError if the source has segments behind the last element.
    virtual void require_no_more() {}

    [[nodiscard]] const SegmentPlace& place() const { return place_; }
    /// Goes on from the place of another cursor of the same source, or from one that place_of() gave.
    virtual void go_to(const SegmentPlace& place) = 0;
    /// The place of an element. With `block` the place moves back, to whole blocks behind its segment's
    /// begin. Flags and keys do not know the segment's number and leave it 0.
    [[nodiscard]] virtual SegmentPlace place_of(std::int64_t element, std::int64_t block) = 0;
    /// Flags and keys: the number of segments that begin from `begin` on and before `end`; else 0.
    [[nodiscard]] virtual std::int64_t num_begun(std::int64_t begin, std::int64_t end) = 0;

protected:
    SegmentPlace place_;
};

/// A cursor at the begin of a source. The segments must cover `num_elements`, if that is known. Throws
/// InputError for a layout that cannot be read part by part.
[[nodiscard]] std::unique_ptr<SegmentCursor> segment_cursor(SegmentSource source,
                                                            std::optional<std::int64_t> num_elements);

/// The slice of a window. `arrays` are its columns, and its tables whole. `room`, if given, gives the memory
/// for offsets.
[[nodiscard]] Slice slice_of(const SegmentWindow& window, std::vector<Array> arrays, bool has_wide_indices,
                             const std::function<Array(Type type, std::size_t length)>& room = {});

}  // namespace segfold
