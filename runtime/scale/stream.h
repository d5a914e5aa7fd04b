#pragma once
// Folds arrays that are read slice by slice: files longer than memory, and generated elements.
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
    std::vector<std::unique_ptr<ArraySource>> parameters;  ///< one for each parameter; tables are read whole
    SegmentSource segments;
};

/// The progress of a stream.
struct StreamProgress {
    std::int64_t elements = 0;  ///< elements folded so far
    std::optional<std::int64_t> all_elements = {};
    std::int64_t segments = 0;  ///< number of segments whose results are known
    double seconds = 0;
};

/// Options of a stream.
struct StreamOptions {
    PlanRequest plan = {};
    std::string without_records = {};
    /// Bound on the stream's buffers, which hold the columns, segments and results of two slices: one slice
    /// is read while the slice before is folded. On a GPU there are four slices with at most 64 MiB of
    /// columns each, and the bound holds for the GPU's memory and for the host's memory, each. Tables and the
    /// scratch memory of plans do not count.
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    std::function<void(const StreamProgress&)> progress = {};
    /// True if another stream may go on from the states. Those of groups take time and memory to write.
    bool keeps_states = false;
};

/// The results of the next segments, in order; with the segments' keys if the layout is `keys`. A scan from
/// the end of segments has the last slice first; it has running results alone, and the segments are those
/// that end in the slice.
struct StreamResults : SegmentResults {
    const SegmentWindow* window = nullptr;  ///< begins and ends of the segments; valid during the call
    std::int64_t first_element = 0;         ///< place of the slice's first element in the whole input
    std::int64_t num_elements = 0;
    Results running = {};  ///< running results of the slice's elements: an array for each output of a scan
};

/// Seconds that a stream spends in each kind of work. Kinds overlap, because threads and device work at the
/// same time.
struct StreamTimeline {
    double all = 0;  ///< from the begin of the first slice to the end of the last slice
    /// Reading sources and segments; on a GPU also queuing copies from page-locked memory.
    double reading = 0;
    double preparing = 0;      ///< choosing plans, making arrays of segments, launching
    double reader_waited = 0;  ///< the reading thread's wait for the memory of an earlier slice
    double waiting = 0;        ///< the calling thread's wait for the results of a slice
    double taking = 0;         ///< the calling thread's time in the caller's function
    double copying = 0;        ///< on a GPU: from a slice's first copy to its last copy, with waits for reads
    double folding = 0;        ///< on a GPU: kernels, and the copies of their results
    std::int64_t slices = 0;
};

/// The state of a stream between two slices. A stream with the same fingerprint can continue from this state.
struct StreamState {
    SegmentPlace place;
    /// Partial::to_bytes() of the earlier slices, without results; for groups GroupTotals::to_bytes(),
    /// if StreamOptions::keeps_states is true.
    std::vector<std::byte> before;
    bool is_end = false;  ///< true beside the results of groups, behind which no stream goes on
};

/// A stream of slices over one device.
///
/// Operands are always combined in the order of the elements. A stream does not know all data in advance, so
/// it uses no law that depends on data: it leaves out an identity that is neutral only for finite values.
/// Groups have their results at the end of the stream; only the constructors with a session take them. The
/// session folds each slice, by laws that hold for the slice's elements.
class Stream {
public:
    /// Throws InputError if a source has a wrong type or length, or if the bound on memory leaves no room for
    /// a slice. `session` must outlive the stream.
    Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options);
    /// Folds slices in the device memory of `engine`; if `engine` is null, in host memory. `session` chooses
    /// the plans.
    Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options,
           std::unique_ptr<SliceEngine> engine);
    /// Folds on the caller's device with the caller's plans, and ignores `options.plan`. The stream fills
    /// `typical` and `checked_tables` of `problem`.
    Stream(SliceDevice device, SliceProblem problem, StreamInput input, StreamOptions options,
           std::unique_ptr<SliceEngine> engine = nullptr);
    ~Stream();

    /// Most elements of a slice.
    [[nodiscard]] std::int64_t slice_elements() const;
    /// Bits of an index in a slice: 32 or 64.
    [[nodiscard]] int index_bits() const;
    /// The numbers of all elements and of all segments; empty if unknown before all are read.
    [[nodiscard]] std::optional<std::int64_t> num_elements() const;
    [[nodiscard]] std::optional<std::int64_t> num_segments() const;
    /// The plan of the segments inside slices; null before it is chosen, and for groups.
    [[nodiscard]] const PlanChoice* plan() const;
    /// The text of plan(), as in Folded::plan(); for groups the plan of the last slice. Empty without a plan.
    [[nodiscard]] std::string plan_text() const;
    [[nodiscard]] const std::vector<std::string>& warnings() const;
    [[nodiscard]] const RunTimes& times() const;
    [[nodiscard]] const StreamTimeline& timeline() const;
    /// A text that identifies the stream. It depends on operator, sources, order of combination and slices.
    [[nodiscard]] std::string fingerprint() const;

    /// Continues from the state of a stream with the same fingerprint(). Must be called before run(). Throws
    /// InputError for a damaged state, and for a scan from the end of segments.
    void go_to(const StreamState& state);
    /// Folds all remaining slices. After each slice, `take` receives its results and the stream's state.
    void run(const std::function<void(StreamResults&& results, const StreamState& state)>& take);

    /// One rank's part of a stream. Its begin and its end may cut segments.
    struct Share {
        SegmentPlace from;
        std::int64_t until = 0;
        /// For flags and keys: the number of segments that begin in the share. For other layouts: 0.
        std::int64_t begun = 0;
    };
    /// Returns part `part` of `num_parts` equal parts. Throws InputError if the number of elements is not
    /// known.
    [[nodiscard]] Share share(std::int64_t part, std::int64_t num_parts);
    /// Returns the share of the elements from `begin` to `end`. The number of elements must be known.
    [[nodiscard]] Share share_between(std::int64_t begin, std::int64_t end);
    /// Receives the partial of a slice, the slice's window of segments, and the running results of its
    /// elements.
    using TakePart = std::function<void(Partial&& partial, const SegmentWindow& window, Results&& running)>;
    /// Folds a share slice by slice, and calls `take` after each slice. A scan continues from `before`, the
    /// sum of the partials that fold_ends() gives for all earlier shares; null if there are no earlier
    /// shares. A scan from the end of segments takes the last slice first, and `before` is of later shares.
    void run_share(const Share& share, const TakePart& take, const Partial* before = nullptr);
    /// For a scan: folds a share to a partial without results. This reads the share once; run_share() reads
    /// it a second time.
    [[nodiscard]] Partial fold_ends(const Share& share);
    [[nodiscard]] const std::shared_ptr<const Joining>& joining_of_ends() const;

    [[nodiscard]] const Operator& op() const;
    [[nodiscard]] const std::shared_ptr<const Joining>& joining() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace segfold
