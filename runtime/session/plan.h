#pragma once
// A plan of a fold: a stage that is chosen and compiled once, and runs on any arrays of the same sizes.
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/session/plan_request.h"
#include "runtime/session/segments_view.h"

struct CUstream_st;

namespace segfold {

/// Allocates a plan's memory on the GPU. `allocate` returns memory aligned to 256 bytes, or throws.
struct DeviceAllocator {
    std::function<void*(std::size_t bytes)> allocate;
    std::function<void(void* memory)> release;
};

/// Options of a plan.
struct PlanOptions {
    /// The request for a stage. If `measured_stages` is above 1, the plan expects a call of Plan::measure().
    ///
    /// It then compiles the other stages in the background, on threads that may call `scratch`. It does not
    /// if spot records (see choice/spot.h) tell the fastest stage. Arrays of segments must already be filled,
    /// because the longest segment is read from them, unless `longest` gives it.
    PlanRequest request = {};
    std::int64_t num_features = 1;  ///< number of features in a row; 1 for operators without rows
    std::int64_t longest = 0;       ///< length of the longest segment; 0 if the caller does not know it
    /// If true, each run checks arrays of segments on a device, and throws InputError for invalid arrays. The
    /// check takes a pass over the arrays and a wait for the GPU. If false, invalid arrays cause undefined
    /// behaviour. Arrays on the host are always checked.
    bool validates_segments = false;
    /// If true, the caller guarantees that all computed table indices are in bounds, and kernels of a GPU do
    /// not check them. On the host indices are always checked.
    bool trusts_tables = false;
    /// If true, the caller guarantees that columns have no infinities and no NaN. The plan may then rely on
    /// an identity that is neutral only for finite values.
    bool assumes_finite = false;
    /// If true, the plan relies on the identity only if it is known to be neutral. If false, an identity is
    /// enough for which a search found no counter-example.
    bool avoids_doubt = false;
    /// If not empty, the plan does not rely on associativity that only NaN refutes. The text is the reason,
    /// such as "'x' has NaN". If empty, the plan relies on such associativity.
    std::string with_nan = {};
    /// If true, the caller guarantees that no value overflows in a fold. If false, the plan still relies on
    /// laws that overflow may break, and warns if data of its sizes and types may overflow.
    bool assumes_no_overflow = false;
    DeviceAllocator scratch = {};  ///< if empty, the plan allocates by itself
};

/// A stage compiled for an operator, a layout and sizes.
///
/// Making a plan, and resize(), read ranges on the host, because the choice depends on their lengths. Other
/// arrays of segments are read only by runs.
///
/// On a GPU a run queues kernels on the caller's stream. It does not allocate or wait, and may be captured
/// into a graph. Scratch memory belongs to the plan. So only the stream of the first run may run the plan
/// until move_to() is called; another stream needs a copy(). A captured run may be on any stream, because its
/// graph has scratch memory of its own.
///
/// On other back ends run() takes arrays on the host and returns when the fold is done. Copies share the
/// compiled program. A plan may outlive its session. Every call throws InputError after the plan was moved
/// from.
class Plan {
public:
    ~Plan();
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;

    /// Folds the caller's arrays: one for each parameter, the arrays of segments, and one for each result
    /// field.
    ///
    /// On a GPU all arrays must be on the device. A scalar may also be on the host; it is read before the
    /// call returns. Groups may omit their number, which the plan knows. Result arrays may be longer than
    /// needed; entries after the results stay unchanged.
    ///
    /// Throws InputError before anything is queued for
    ///   - a wrong number of arrays,
    ///   - an array whose type, length, row length or location does not fit the plan, or that has no address,
    ///   - a written array that shares memory with another array,
    ///   - scalars on the host that refute a law on which the text relies.
    void run(std::span<const ArrayView> inputs, const SegmentsView& segments,
             std::span<const MutableArrayView> results, CUstream_st* stream = nullptr);
    void run(std::initializer_list<ArrayView> inputs, const SegmentsView& segments,
             std::initializer_list<MutableArrayView> results, CUstream_st* stream = nullptr)
    {
        run(std::span(inputs.begin(), inputs.size()), segments, std::span(results.begin(), results.size()),
            stream);
    }

    /// Times the `num_stages` best-ranked stages on the caller's arrays, and keeps the fastest.
    ///
    /// Each stage runs a few times and writes results to temporary memory. If nothing rounds, the results are
    /// compared. If combine rounds, another stage may give other last bits. The times are kept as spot
    /// records (see choice/spot.h); if these have all the stages, nothing is timed.
    ///
    /// Changes nothing for a plan with a requested stage, a reproducible plan, and a plan that has already
    /// measured. No other thread may use the plan meanwhile, and `stream` must not be captured. Throws like
    /// run(). Throws InputError if `num_stages` is less than 1, and for a plan that was captured into a
    /// graph, because its bits must stay the same.
    void measure(std::span<const ArrayView> inputs, const SegmentsView& segments,
                 CUstream_st* stream = nullptr, int num_stages = 3);

    /// Throws InputError, like run(), if the segments or the number of elements do not fit the plan.
    ///
    /// For callers that fold by other means than run(). Reads only sizes and types, so the arrays may be
    /// anywhere.
    void require_sizes(const SegmentsView& segments, std::int64_t num_elements) const;
    /// Prepares the plan to run the same program on arrays of other sizes. May allocate memory and wait.
    ///
    /// Keeps the stage and chooses and compiles nothing. A new plan might use another stage, which explain()
    /// names under "resized". Throws InputError for another layout, or for another width of indices or keys.
    void resize(const SegmentsView& segments, std::int64_t num_elements);
    /// Returns the plan that the session would make for other sizes, without judging the laws again. For
    /// plans on the host. `longest` is the length of the longest segment; 0 if unknown. Returns nothing if
    /// the plan has no stage or is on a device, or if resize() would throw.
    [[nodiscard]] std::optional<Plan> for_sizes(const SegmentsView& segments, std::int64_t num_elements,
                                                std::int64_t longest = 0) const;
    /// Returns a copy with scratch memory of its own, for another stream.
    [[nodiscard]] Plan copy() const;
    /// Lets another stream run the plan. Runs on the earlier stream must have ended, or must be ordered
    /// before runs on the new stream.
    void move_to(CUstream_st* stream);
    /// Waits for `stream`. Throws InputError if a run has read past the end of a table, or found a group
    /// number that is too large.
    void require_tables_read_inside(CUstream_st* stream = nullptr);

    /// True if run() accepts these scalars, because they refute no law on which the text relies.
    [[nodiscard]] bool takes_scalars(std::span<const ArrayView> inputs);

    /// The number of elements that a run reads. For ranges it is the sum of their lengths when last read.
    /// Other threads may call this function while the plan runs.
    [[nodiscard]] std::int64_t num_items() const;
    [[nodiscard]] const std::string& stage() const;
    /// The values of the stage's tunables.
    [[nodiscard]] std::map<std::string, int> settings() const;
    /// The source of the choice: "asked for", "measured here", "spot record", "tuning record", "measured
    /// rows", ...
    [[nodiscard]] std::string chosen_by() const;
    /// The emitted CUDA text; empty for a back end without stages.
    [[nodiscard]] const std::string& source() const;
    /// Returns pairs of a heading and a text that explain the choice. Headings are "plan", "lookup", "why",
    /// "rule of thumb", ..., and "resized" after a resize() to other sizes. Texts under "bytes", "expected",
    /// "nearest" and "rule of thumb" refer to the current sizes.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> explain() const;
    [[nodiscard]] const std::vector<std::string>& warnings() const;
    /// Bytes of scratch memory, including the plan's own arrays of offsets.
    [[nodiscard]] std::int64_t scratch_bytes() const;

    struct State;
    explicit Plan(std::unique_ptr<State> state);

private:
    friend struct KeptPlan;
    /// Throws InputError if moved from.
    [[nodiscard]] State& state() const;

    std::unique_ptr<State> state_;
};

}  // namespace segfold
