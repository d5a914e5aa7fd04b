#pragma once
// Folds of arrays of which only parts are in memory: files longer than it, and elements as they are made.
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

/// What a stream folds.
struct StreamInput {
    std::vector<std::unique_ptr<ArraySource>> parameters;  ///< columns; tables, which are read whole
    SegmentSource segments;
};

/// How far a stream has come.
struct StreamProgress {
    std::int64_t elements = 0;  ///< folded
    std::optional<std::int64_t> all_elements = {};
    std::int64_t segments = 0;  ///< with results
    double seconds = 0;
};

/// How a stream is folded.
struct StreamOptions {
    PlanRequest plan = {};
    std::string without_records = {};
    /// Bytes of the buffers of a stream: columns, layout and results of two slices, as one slice is read
    /// while the one before is folded, and of four on a GPU, where this bounds the GPU's memory and the
    /// host's each and slices have 64 MiB of columns at most. Tables and the scratch memory of plans come on
    /// top.
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    std::function<void(const StreamProgress&)> progress = {};
};

/// The results of the next segments, in their order.
struct StreamResults {
    Results results;  ///< with keys, for the layout keys
    std::int64_t first_segment = 0;
    std::int64_t num_segments = 0;
    const SegmentWindow* window = nullptr;  ///< where they begin and end; for the call alone
};

/// Where the time of a stream went, in seconds. Threads and device work at the same time: parts overlap.
struct StreamTimeline {
    double all = 0;      ///< from the first slice's begin to the last one's end
    double reading = 0;  ///< sources, and segments; on a GPU queueing copies from page-locked memory as well
    double preparing = 0;      ///< what runs over a slice: plans, arrays of segments, launches
    double reader_waited = 0;  ///< for room, because slices before were not done
    double waiting = 0;        ///< the caller's thread, for the results of a slice
    double taking = 0;         ///< the caller's thread, in what it does with results
    double copying =
        0;  ///< on a GPU: from a slice's first copy to its last, waiting for what is read included
    double folding = 0;  ///< on a GPU: kernels, and the copies of their results
    std::int64_t slices = 0;
};

/// Where a stream stands between two slices: everything that going on needs.
struct StreamState {
    SegmentPlace place;
    std::vector<std::byte> open;  ///< BorderJoin::pack()
};

/// A stream of slices over one device.
///
/// The order of the elements is kept, whatever the operator is. Laws that only data can speak for are not
/// relied on: an identity that is neutral on finite values alone is left out.
class Stream {
public:
    /// Throws InputError for sources of other types or lengths than the operator and the segments need, and
    /// for a bound that leaves no room for a slice. `session` must outlive the stream.
    Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options);
    /// The same on a device of the caller's, for which `session` chooses plans.
    Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options,
           std::unique_ptr<SliceEngine> engine);
    /// The same on a device that is no session, by plans of the caller's: `options.plan` is not asked, and of
    /// `problem` neither `typical` nor `checked_tables` need be filled.
    Stream(SliceDevice device, SliceProblem problem, StreamInput input, StreamOptions options,
           std::unique_ptr<SliceEngine> engine = nullptr);
    ~Stream();

    /// Elements of a slice, at most.
    [[nodiscard]] std::int64_t slice_elements() const;
    /// The width of indices in a slice.
    [[nodiscard]] int index_bits() const;
    /// Elements and segments in all, where that is known before they are read.
    [[nodiscard]] std::optional<std::int64_t> num_elements() const;
    [[nodiscard]] std::optional<std::int64_t> num_segments() const;
    /// The plan of the segments inside slices, once there has been one.
    [[nodiscard]] const PlanChoice* plan() const;
    [[nodiscard]] const std::vector<std::string>& warnings() const;
    [[nodiscard]] const RunTimes& times() const;
    [[nodiscard]] const StreamTimeline& timeline() const;
    /// What tells this stream from others: operator, sources, order of combination, elements of a slice.
    [[nodiscard]] std::string fingerprint() const;

    /// Goes on from a state of an equal stream, before the first slice.
    void go_to(const StreamState& state);
    /// Folds all slices that are left. `take` is given the results of each in turn, and the state after it.
    void run(const std::function<void(StreamResults&& results, const StreamState& state)>& take);

    /// A part of the work, of several that share a stream: elements `part * n / num_parts` and on, moved to
    /// where segments may be cut.
    struct Share {
        SegmentPlace from;
        std::int64_t until = 0;
        std::int64_t begun = 0;  ///< segments that begin in it, of flags and keys; else 0
    };
    /// Throws InputError where the number of elements is not known.
    [[nodiscard]] Share share(std::int64_t part, std::int64_t num_parts);
    /// The share of the elements from `begin` to `end`; the number of elements must be known.
    [[nodiscard]] Share share_between(std::int64_t begin, std::int64_t end);
    /// Folds a share slice by slice, and hands on what each gave, with the segments that end in it.
    void run_share(const Share& share,
                   const std::function<void(SliceResults&& results, const SegmentWindow& window)>& take);

    [[nodiscard]] const Operator& op() const;
    [[nodiscard]] JoinOrder order() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace segfold
