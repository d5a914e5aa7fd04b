#pragma once
// Folds of arrays that are read slice by slice: files longer than memory, and generated elements.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/scale/segment_cursor.h"
#include "runtime/scale/slices/slice_engine.h"
#include "runtime/scale/slices/sliced.h"

namespace segfold {

/// The arrays and the segments of a stream.
struct StreamInput {
    std::vector<std::unique_ptr<ArraySource>> parameters;  ///< columns, and tables, which are read whole
    SegmentSource segments;
};

/// The progress of a stream.
struct StreamProgress {
    std::int64_t elements = 0;  ///< folded
    std::optional<std::int64_t> all_elements = {};
    std::int64_t segments = 0;  ///< that have results
    double seconds = 0;
};

/// Wishes for a stream.
struct StreamOptions {
    PlanRequest plan = {};
    std::string without_records = {};
    /// Bound on the buffers of a stream: columns, layout and results of two slices, because one slice is read
    /// while the one before is folded. A GPU has four slices, of at most 64 MiB of columns each; the bound
    /// holds for its memory and for the host's. Tables and the scratch memory of plans are not counted.
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    std::function<void(const StreamProgress&)> progress = {};
};

/// The results of the next segments, in order; with keys for the layout keys.
struct StreamResults : SegmentResults {
    const SegmentWindow* window = nullptr;  ///< their begins and ends; valid during the call
};

/// The times of a stream's parts, in seconds. They overlap, because threads and device work at the same time.
struct StreamTimeline {
    double all = 0;  ///< from the first slice's begin to the last one's end
    double reading =
        0;  ///< sources and segments; on a GPU also the queueing of copies from page-locked memory
    double preparing = 0;      ///< plans, arrays of segments, launches
    double reader_waited = 0;  ///< the reader, for the memory of an earlier slice
    double waiting = 0;        ///< the caller's thread, for the results of a slice
    double taking = 0;         ///< the caller's thread, in its own function
    double copying = 0;        ///< on a GPU: from a slice's first copy to its last, with the waits for reads
    double folding = 0;        ///< on a GPU: kernels, and the copies of their results
    std::int64_t slices = 0;
};

/// The state of a stream between two slices. An equal stream can go on from it.
struct StreamState {
    SegmentPlace place;
    std::vector<std::byte> before;  ///< Partial::to_bytes() of the slices before, whose results were taken
};

/// A stream of slices over one device.
///
/// The order of the elements is kept, whatever the operator is. Laws that only data can speak for are not
/// relied on: an identity that is neutral on finite values alone is left out.
class Stream {
public:
    /// Throws InputError if a source has a wrong type or length, or if the bound on memory leaves no room for
    /// a slice. `session` must outlive the stream.
    Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options);
    /// The same on the caller's device; `session` chooses the plans.
    Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options,
           std::unique_ptr<SliceEngine> engine);
    /// The same on the caller's device and by the caller's plans; `options.plan` is not used. The stream
    /// fills `typical` and `checked_tables` of `problem`.
    Stream(SliceDevice device, SliceProblem problem, StreamInput input, StreamOptions options,
           std::unique_ptr<SliceEngine> engine = nullptr);
    ~Stream();

    /// The most elements of a slice.
    [[nodiscard]] std::int64_t slice_elements() const;
    /// Bits of an index in a slice: 32 or 64.
    [[nodiscard]] int index_bits() const;
    /// All elements and segments, if their number is known before they are read.
    [[nodiscard]] std::optional<std::int64_t> num_elements() const;
    [[nodiscard]] std::optional<std::int64_t> num_segments() const;
    /// The plan of the segments inside slices, once there has been one.
    [[nodiscard]] const PlanChoice* plan() const;
    [[nodiscard]] const std::vector<std::string>& warnings() const;
    [[nodiscard]] const RunTimes& times() const;
    [[nodiscard]] const StreamTimeline& timeline() const;
    /// A text that differs for other operators, sources, orders of combination and slices.
    [[nodiscard]] std::string fingerprint() const;

    /// Goes on from the state of an equal stream. Call it before run(). Throws InputError for a damaged
    /// state.
    void go_to(const StreamState& state);
    /// Folds all slices that are left. `take` receives the results of each in turn, and the state after it.
    void run(const std::function<void(StreamResults&& results, const StreamState& state)>& take);

    /// One of several parts of a stream, for one rank. It begins and ends where segments may be cut.
    struct Share {
        SegmentPlace from;
        std::int64_t until = 0;
        std::int64_t begun = 0;  ///< flags and keys: segments that begin in it; else 0
    };
    /// Part `part` of `num_parts` equal ones. Throws InputError if the number of elements is not known.
    [[nodiscard]] Share share(std::int64_t part, std::int64_t num_parts);
    /// The share of the elements from `begin` to `end`; the number of elements must be known.
    [[nodiscard]] Share share_between(std::int64_t begin, std::int64_t end);
    /// Folds a share slice by slice. `take` receives the partial of each, and the segments that end in it.
    void run_share(const Share& share,
                   const std::function<void(Partial&& partial, const SegmentWindow& window)>& take);

    [[nodiscard]] const Operator& op() const;
    [[nodiscard]] const std::shared_ptr<const Joining>& joining() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace segfold
