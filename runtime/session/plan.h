#pragma once
// A plan of a fold: a stage chosen and compiled once, then run on any arrays of fixed sizes.
#include <cstdint>
#include <functional>
#include <initializer_list>
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
    PlanRequest request = {};
    std::int64_t num_features = 1;  ///< length of a row; 1 for operators without rows
    std::int64_t longest = 0;       ///< length of the longest segment; 0 if the caller does not know it
    /// If true, each run checks arrays of segments on a device, and throws InputError for wrong arrays. The
    /// check takes a pass over the arrays and a wait for the GPU. If false, wrong arrays cause undefined
    /// behaviour. Arrays on the host are always checked.
    bool validates_segments = false;
    /// If true, kernels of a GPU do not check computed indices of tables: the caller guarantees that all are
    /// in bounds. On the host indices are always checked.
    bool trusts_tables = false;
    /// If true, the caller guarantees that columns hold no infinities and no NaN. The plan may then rely on
    /// an identity that is neutral only on finite values.
    bool assumes_finite = false;
    /// If true, the plan relies on the identity only if no element can refute it. If false, it also relies on
    /// an identity that a search has merely failed to refute.
    bool avoids_doubt = false;
    /// The reason, such as "'x' has NaN", not to rely on associativity if only NaN refutes associativity. If
    /// empty, the plan relies on associativity then.
    std::string with_nan = {};
    /// If true, the caller guarantees that nothing overflows in a fold. If false, the plan relies on laws
    /// that overflow may break, and warns if data of its sizes and types may overflow.
    bool assumes_no_overflow = false;
    DeviceAllocator scratch = {};  ///< if empty, the plan allocates by itself
    /// The stages that Plan::measure() will time, if it will be called. Those beside the plan's own compile
    /// while it does, on threads of their own, which call `scratch`. Above 1, arrays of segments must be
    /// filled: they are read for the longest one, unless `longest` says it.
    int measured_stages = 1;
};

/// A stage compiled for an operator, segments and sizes.
///
/// Ranges on the host are read when the plan is made, and by resize(), because the choice depends on their
/// lengths. Other arrays of segments are read only by runs.
///
/// On a GPU a run queues kernels on the caller's stream. It allocates nothing, waits for nothing, and may be
/// captured into a graph. Scratch memory belongs to the plan, so until move_to() only the stream of the first
/// run may run the plan; another stream needs a copy(). A captured run may be on any stream, because its
/// graph has scratch memory of its own. On other back ends run() takes arrays of the host and returns when
/// the fold is done. Copies share the compiled program. A plan may outlive its session. Each call throws
/// InputError after the plan was moved from.
class Plan {
public:
    ~Plan();
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;

    /// Folds the caller's arrays: one for each parameter, those of segments, and one for each result field.
    ///
    /// On a GPU all arrays lie on the device. A scalar may also lie on the host, and is read before the call
    /// returns. Groups may leave out their number, which is the plan's. Result arrays may be longer than
    /// needed; entries beyond the results stay unchanged. Throws InputError before anything is queued: for a
    /// wrong number of arrays; for an array whose type, length, rows or place do not fit the plan, or without
    /// an address; for a written array that shares memory with another array; and for scalars on the host
    /// that refute a law on which the text relies.
    void run(std::span<const ArrayView> inputs, const SegmentsView& segments,
             std::span<const MutableArrayView> results, CUstream_st* stream = nullptr);
    void run(std::initializer_list<ArrayView> inputs, const SegmentsView& segments,
             std::initializer_list<MutableArrayView> results, CUstream_st* stream = nullptr)
    {
        run(std::span(inputs.begin(), inputs.size()), segments, std::span(results.begin(), results.size()),
            stream);
    }

    /// Times the first `num_stages` stages of the measured order on the caller's arrays, and keeps the
    /// fastest.
    ///
    /// Each stage runs a few times and writes results to temporary memory. If nothing rounds, the results are
    /// compared. If combine rounds, another stage may give other last bits. A plan with a requested stage, or
    /// a reproducible plan, stays as it is. No other thread may use the plan meanwhile, and `stream` must not
    /// be captured. Throws like run(), and InputError for less than one stage.
    void measure(std::span<const ArrayView> inputs, const SegmentsView& segments,
                 CUstream_st* stream = nullptr, int num_stages = 3);

    /// Throws InputError, like run(), if the segments or the number of elements do not fit the plan.
    ///
    /// Serves callers that fold by other means than run(). Reads only sizes and types, so the arrays may lie
    /// anywhere.
    void require_sizes(const SegmentsView& segments, std::int64_t num_elements) const;
    /// Prepares the plan to run the same program on arrays of other sizes. May allocate memory and wait.
    ///
    /// Nothing is chosen or compiled: the plan keeps the stage of its first sizes. A new plan might take
    /// another stage, which explain() names under "resized". Throws InputError for segments in another
    /// layout, or with indices or keys of another width.
    void resize(const SegmentsView& segments, std::int64_t num_elements);
    /// For a plan on the host: returns the plan that the session would make for other sizes, but does not
    /// judge the laws again. `longest` is the length of the longest segment; 0 if unknown. Returns nothing if
    /// the plan has no stage or is on a device, or if resize() would throw.
    [[nodiscard]] std::optional<Plan> for_sizes(const SegmentsView& segments, std::int64_t num_elements,
                                                std::int64_t longest = 0) const;
    /// Returns the same plan with scratch memory of its own, for another stream.
    [[nodiscard]] Plan copy() const;
    /// Lets another stream run the plan. Runs on the earlier stream must have ended, or must be ordered
    /// before runs on the new stream.
    void move_to(CUstream_st* stream);
    /// Waits for `stream`. Throws InputError if a run has read past the end of a table, or has read a group
    /// number that is too large.
    void require_tables_read_inside(CUstream_st* stream = nullptr);

    /// True if run() accepts these scalars: they refute no law on which the text relies.
    [[nodiscard]] bool takes_scalars(std::span<const ArrayView> inputs);

    /// The number of elements that a run reads. For ranges it is the sum of their lengths when they were last
    /// read. Other threads may call this function while the plan runs.
    [[nodiscard]] std::int64_t num_items() const;
    [[nodiscard]] const std::string& stage() const;
    /// The emitted CUDA text; empty for a back end without stages.
    [[nodiscard]] const std::string& source() const;
    /// Returns pairs of a heading and a text that explain the choice. Headings are "plan", "lookup", "why",
    /// "rule of thumb", ...; after a resize() to other sizes also "resized". Texts under "bytes", "expected",
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
