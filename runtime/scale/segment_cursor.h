#pragma once
// Reads segments part by part. The arrays that give them need not fit in memory.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
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

/// How the elements of a stream name their groups: by numbers or by keys.
struct StreamGroups {
    /// Number of groups; if empty, the largest group number plus one. Unused for keys.
    std::optional<std::int64_t> num_groups = {};
    std::optional<KeyOrder> order =
        {};  ///< the order of the results if elements have keys; empty for numbers
};

/// The layout of segments, and the array that gives them.
struct SegmentSource {
    LayoutKind kind = LayoutKind::whole;  ///< whole, uniform, offsets, lengths, flags, keys or groups
    std::int64_t uniform_length = 0;
    std::unique_ptr<ArraySource> array = {};  ///< offsets, lengths, flags, keys or group numbers
    StreamGroups groups = {};                 ///< used if `kind` is groups
};

/// The position of a cursor.
struct SegmentPlace {
    std::int64_t element = 0;  ///< the next element to read
    /// The number of the segment that has begun before `element` and has not ended; if there is none, the
    /// number of the next segment.
    std::int64_t segment = 0;
    /// The first element of `segment`; less than `element` if the segment has begun.
    std::int64_t open_begin = 0;
};

/// The ends of consecutive segments: one past the last element of each. Ends from an array keep the array's
/// type.
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

    /// Appends an end.
    void push_back(std::int64_t end) { own_.push_back(end); }
    /// Sets all ends from an array of i32 or i64.
    void assign(Array ends) { read_ = std::move(ends); }
    /// Sets `count` ends: first_end, first_end + length, ...
    void assign(std::int64_t first_end, std::int64_t length, std::int64_t count)
    {
        first_end_ = first_end;
        length_ = length;
        num_alike_ = static_cast<std::size_t>(count);
    }
    /// Calls `visitor` with a span of all ends. Throws InternalError for ends that were set by a length,
    /// because no array holds them.
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
    Array read_;  ///< array of the ends, if `own_` is empty
    std::int64_t first_end_ = 0, length_ = 0;
    std::size_t num_alike_ = 0;  ///< number of ends first_end_ + i * length_; 0 if an array has the ends
};

/// The segments between two elements.
struct SegmentWindow {
    SegmentPlace from;
    std::int64_t end = 0;             ///< one past the last element
    SegmentEnds ends = {};            ///< ends of the segments that end in the window, in order
    std::optional<Array> keys = {};   ///< keys of the segments that end in the window
    std::int64_t uniform_length = 0;  ///< length of each segment; 0: unknown or different lengths

    /// The length of the segment that ends at ends[s]. The segment may have begun in an earlier window.
    [[nodiscard]] std::int64_t length(std::size_t s) const
    {
        return ends[s] - (s == 0 ? from.open_begin : ends[s - 1]);
    }
    /// The lengths of the first `most` segments that end in the window, or of all if there are fewer.
    [[nodiscard]] std::vector<std::int64_t> lengths(std::int64_t most = kAllLengths) const
    {
        std::vector<std::int64_t> all(std::min(ends.size(), static_cast<std::size_t>(most)));
        for (std::size_t s = 0; s < all.size(); ++s)
            all[s] = length(s);
        return all;
    }
    static constexpr std::int64_t kAllLengths = std::numeric_limits<std::int64_t>::max();
};

/// Reads the segments of a source from the first to the last.
class SegmentCursor {
public:
    virtual ~SegmentCursor() = default;

    /// Bounds of one step.
    struct Step {
        std::int64_t elements = 0;  ///< most elements of the step; at least 1, and at least `block`
        std::int64_t segments = 0;  ///< most segments that end in the step; at least 1
        /// If not 0, a step cuts a segment only at a multiple of `block` elements after the segment's begin.
        /// If 0, a step may cut anywhere.
        std::int64_t block = 0;
        std::int64_t until = 0;  ///< an element at which the step ends at the latest; a result of place_of()
    };
    /// Reads the next part. Throws InputError if its segments are invalid.
    [[nodiscard]] virtual SegmentWindow next(const Step& step) = 0;
    /// True if no segment is left before element `until`.
    [[nodiscard]] virtual bool is_done(std::int64_t until) const = 0;
    /// The number of elements; empty if it is unknown before all are read.
    [[nodiscard]] virtual std::optional<std::int64_t> num_elements() const = 0;
    /// The number of segments; empty if it is unknown before all are read.
    [[nodiscard]] virtual std::optional<std::int64_t> num_segments() const = 0;

    /// Sets the number of elements of a single segment of unknown length. Other cursors throw InputError.
    virtual void end_at(std::int64_t num_elements);
    /// Throws InputError if the source has segments after the last element.
    virtual void require_no_more() {}

    [[nodiscard]] const SegmentPlace& place() const { return place_; }
    /// Continues at a position that a cursor of the same source has returned.
    virtual void go_to(const SegmentPlace& place) = 0;
    /// Returns the position of element `element`. If `block` is not 0, moves the position back to a multiple
    /// of `block` elements after its segment's begin. For flags and keys the segment number is unknown, and
    /// set to 0.
    [[nodiscard]] virtual SegmentPlace place_of(std::int64_t element, std::int64_t block) = 0;
    /// Returns the number of segments whose first element lies in [begin, end); always 0 for layouts other
    /// than flags and keys.
    [[nodiscard]] virtual std::int64_t num_begun(std::int64_t begin, std::int64_t end) = 0;

protected:
    SegmentPlace place_;
};

/// Makes a cursor at the begin of a source. The segments must cover `num_elements` elements, if given. Throws
/// InputError for a layout that cannot be read part by part.
[[nodiscard]] std::unique_ptr<SegmentCursor> segment_cursor(SegmentSource source,
                                                            std::optional<std::int64_t> num_elements);

/// Makes a slice of the elements and segments of a window. `arrays` has the window's part of each column, and
/// whole tables. `room` allocates memory for offsets; if it is empty, the slice allocates.
[[nodiscard]] Slice slice_of(const SegmentWindow& window, std::vector<Array> arrays, bool has_wide_indices,
                             const std::function<Array(Type type, std::size_t length)>& room = {});

}  // namespace segfold
