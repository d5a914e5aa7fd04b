#pragma once
// Folds arrays that are read slice by slice: files longer than memory, and generated elements.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/scale/group_partial.h"
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
    /// Bound on the stream's buffers, in bytes. On the host they hold the columns, segments and results of
    /// two slices: one slice is read while the slice before is folded. On a GPU there are four slices with at
    /// most 64 MiB of columns each; the bound then holds for the GPU's memory and for the host's memory
    /// separately. Tables and the scratch memory of plans do not count.
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    std::function<void(const StreamProgress&)> progress = {};
    /// If true, StreamState has the states of groups too, so that another stream can continue. To write them
    /// takes time and memory.
    bool keeps_states = false;
};

/// The results of the next segments, in order, with the segments' keys if the layout is `keys`. A reverse
/// scan begins with the last slice; it has running results alone, and its segments are those that end in the
/// slice.
struct StreamResults : SegmentResults {
    const SegmentWindow* window = nullptr;  ///< begins and ends of the segments; valid during the call
    std::int64_t first_element = 0;         ///< index of the slice's first element in the whole input
    std::int64_t num_elements = 0;
    Results running = {};  ///< running results of the slice's elements, one array per output of a scan
};

/// Seconds that a stream spends in each kind of work. Kinds overlap, because threads and device work at the
/// same time.
struct StreamTimeline {
    double all = 0;  ///< from the begin of the first slice to the end of the last slice
    /// Reading sources and segments; on a GPU also queuing copies from page-locked memory.
    double reading = 0;
    double preparing = 0;      ///< choosing plans, making arrays of segments, launching
    double reader_waited = 0;  ///< wait of the reading thread until a buffer is free
    double waiting = 0;        ///< wait of the calling thread for the results of a slice
    double taking = 0;         ///< time of the calling thread in the caller's function
    double copying = 0;        ///< on a GPU: from a slice's first copy to its last, including waits for reads
    double folding = 0;        ///< on a GPU: kernels and copies of results
    std::int64_t slices = 0;
};

/// The state of a stream between two slices. A stream with the same fingerprint can continue from this state.
struct StreamState {
    SegmentPlace place;
    /// Partial::to_bytes() of the earlier slices, without results. For groups GroupPartial::to_bytes(), and
    /// only if StreamOptions::keeps_states is true and the stream can go on.
    std::vector<std::byte> before;
    bool is_end = false;  ///< true for the results of groups, after which no stream can continue
};

/// The parts of a fold by groups that other ranks have.
class GroupExchange {
public:
    virtual ~GroupExchange() = default;
    /// Returns the sum of the partials of all ranks before this one; if `is_from_end` is true, of all ranks
    /// after it. Collective.
    [[nodiscard]] virtual GroupPartial before(const std::shared_ptr<const GroupJoining>& joining,
                                              const GroupPartial& mine, bool is_from_end) = 0;
    /// Returns the sum of the partials of all ranks. `up_to` is the sum of those up to this one. Collective.
    [[nodiscard]] virtual GroupPartial all(const std::shared_ptr<const GroupJoining>& joining,
                                           const GroupPartial& up_to) = 0;
};

/// A stream of slices over one device.
///
/// Operands are always combined in the order of the elements. A stream does not know all data in advance, so
/// it relies on no law that depends on data. In particular, it leaves out an identity that is neutral only
/// for finite values.
///
/// Groups have their results at the end of the stream; only the constructors with a session take groups. For
/// groups the session folds each slice, and may rely on laws that hold for the slice's elements. For an
/// operator with a `map` the elements of groups are read twice.
class Stream {
public:
    /// Throws InputError if a source has a wrong type or length, or if the bound on memory leaves no room for
    /// a slice. `session` must outlive the stream.
    Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options);
    /// Folds slices in the device memory of `engine`; if `engine` is null, in host memory. `session` chooses
    /// the plans.
    Stream(Session& session, const Operator& op, StreamInput input, StreamOptions options,
           std::unique_ptr<SliceEngine> engine);
    /// Folds on the caller's device with the caller's plans, and ignores `options.plan`. The stream sets
    /// `typical` and `checked_tables` of `problem`.
    Stream(SliceDevice device, SliceProblem problem, StreamInput input, StreamOptions options,
           std::unique_ptr<SliceEngine> engine = nullptr);
    ~Stream();

    /// Largest number of elements of a slice.
    [[nodiscard]] std::int64_t slice_elements() const;
    /// Bits of an index in a slice: 32 or 64.
    [[nodiscard]] int index_bits() const;
    /// The number of all elements; empty if it is unknown before all are read. num_segments() is the same for
    /// segments.
    [[nodiscard]] std::optional<std::int64_t> num_elements() const;
    [[nodiscard]] std::optional<std::int64_t> num_segments() const;
    /// The plan for segments inside slices. Null until it is chosen, and for groups.
    [[nodiscard]] const PlanChoice* plan() const;
    /// Text of plan(), as in Folded::plan(); for groups the plan of the last slice. Empty if there is no
    /// plan.
    [[nodiscard]] std::string plan_text() const;
    [[nodiscard]] const std::vector<std::string>& warnings() const;
    [[nodiscard]] const RunTimes& times() const;
    [[nodiscard]] const StreamTimeline& timeline() const;
    /// A text that identifies the operator, the sources, the order of combination and the size of slices.
    [[nodiscard]] std::string fingerprint() const;

    /// Continues from the state of a stream with the same fingerprint(). Must be called before run(). Throws
    /// InputError for a damaged state, for a reverse scan, and for a `map`.
    void go_to(const StreamState& state);
    /// Folds all remaining slices. After each slice, `take` receives its results and the stream's state.
    void run(const std::function<void(StreamResults&& results, const StreamState& state)>& take);

    /// One rank's part of a stream. Its begin and its end may lie inside segments.
    struct Share {
        SegmentPlace from;
        std::int64_t until = 0;
        /// Number of segments that begin in the share; always 0 for layouts other than flags and keys.
        std::int64_t begun = 0;
    };
    /// Returns part `part` of `num_parts` equal parts. Throws InputError if the number of elements is
    /// unknown.
    [[nodiscard]] Share share(std::int64_t part, std::int64_t num_parts);
    /// Returns the share of the elements from `begin` to `end`. The number of elements must be known.
    [[nodiscard]] Share share_between(std::int64_t begin, std::int64_t end);
    /// Receives the partial of a slice, the slice's window of segments, and the running results of its
    /// elements.
    using TakePart = std::function<void(Partial&& partial, const SegmentWindow& window, Results&& running)>;
    /// Folds a share slice by slice, and calls `take` after each slice. A scan continues from `before`, the
    /// sum of fold_ends() of all earlier shares, or null if there are none. A reverse scan begins with the
    /// last slice, and `before` is the sum of all later shares.
    void run_share(const Share& share, const TakePart& take, const Partial* before = nullptr);
    /// Folds a share to a partial without results, for a scan. Reads the whole share; run_share() then reads
    /// it again.
    [[nodiscard]] Partial fold_ends(const Share& share);
    [[nodiscard]] const std::shared_ptr<const Joining>& joining_of_ends() const;

    /// Receives the window and the outputs of a slice.
    using TakeOutputs = std::function<void(const SegmentWindow& window, Results&& outputs)>;
    /// For groups: folds a share slice by slice, in as many passes over it as the operator takes. `others`
    /// folds the shares of other ranks, all of which call this function; null if there are none.
    void run_groups(const Share& share, GroupExchange* others, const TakeOutputs& take);
    /// After run_groups(): returns the results of all groups. Of several ranks only the last one has them;
    /// for a scan from the end, the first one.
    [[nodiscard]] GroupResults group_results();
    /// For groups: the results of none of them, as every slice has them.
    [[nodiscard]] Results no_results() const;
    /// True for groups in any order.
    [[nodiscard]] bool has_groups() const;

    [[nodiscard]] const Operator& op() const;
    [[nodiscard]] const std::shared_ptr<const Joining>& joining() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace segfold
