#pragma once
// A plan of a fold: chosen and compiled once, then run on any arrays of its sizes.
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

/// Allocates a plan's memory on the GPU. `allocate` returns memory aligned to 256 bytes, and throws if it has
/// none.
struct DeviceAllocator {
    std::function<void*(std::size_t bytes)> allocate;
    std::function<void(void* memory)> release;
};

/// Options of a plan.
struct PlanOptions {
    PlanRequest request = {};
    std::int64_t num_features = 1;  ///< numbers of each row, for operators over rows
    std::int64_t longest = 0;       ///< elements of the longest segment, if the caller knows it
    /// If true, each run checks arrays of segments on a device, as arrays on the host always are, and throws
    /// InputError for wrong ones. This takes a pass over the arrays and a wait for the GPU. If false, wrong
    /// arrays are undefined behaviour.
    bool validates_segments = false;
    /// If true, kernels of a GPU do not check computed indices of tables: the caller guarantees that they lie
    /// inside. On the host indices are checked nevertheless.
    bool trusts_tables = false;
    /// If true, columns on a device hold no infinities and no NaN, so the plan may rely on an identity that
    /// is neutral only on finite values.
    bool assumes_finite = false;
    /// If true, the plan does not rely on an identity that no search refutes but elements may refute.
    bool avoids_doubt = false;
    /// The reason, such as "'x' has NaN", not to rely on associativity that only NaN refutes. Empty: the plan
    /// relies on it.
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
/// Ranges on the host are read when the plan is made, and by resize(), because the choice depends on them.
/// Other arrays of segments are not read before a run.
///
/// On a GPU a run queues kernels on the caller's stream: it allocates nothing, waits for nothing, and may be
/// captured into a graph. Scratch memory belongs to the plan, so only the stream of its first run may run it,
/// until move_to(). Another stream needs a copy(). A run that is captured has scratch memory of the graph's
/// own, and may be on any stream. On other back ends a run takes arrays of the host and has
/// ended when it returns. Copies share the compiled program. A plan may outlive its session. Each call throws
/// InputError after the plan was moved from.
class Plan {
public:
    ~Plan();
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;

    /// Folds. Takes an array for each parameter, the arrays of segments, and an array for each result field.
    ///
    /// On a GPU all arrays lie on the device; a scalar may also lie on the host, and is read before the call
    /// returns. Result arrays may be longer than needed; their further entries stay unchanged. Throws
    /// InputError before anything is queued: for an array whose number, type, length, rows or place do not
    /// fit the plan, that has no address, or that is written and shares memory with another array of the
    /// call, and for scalars on the host that refute a law on which the text relies.
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
    /// Each runs a few times, with results in memory of its own that is freed afterwards; where nothing
    /// rounds, results are compared. A plan whose stage was asked for, or that is reproducible, stays as it
    /// is. Where combine rounds, another stage may give other last bits. No other thread may use the plan
    /// meanwhile, and `stream` must not be captured. Throws like run(), and InputError for less than one
    /// stage.
    void measure(std::span<const ArrayView> inputs, const SegmentsView& segments,
                 CUstream_st* stream = nullptr, int num_stages = 3);

    /// Throws InputError, like run(), if the segments or the number of elements do not fit the plan.
    ///
    /// For callers that do the work of a run without the plan. Reads only sizes and types, so the arrays may
    /// lie anywhere.
    void require_sizes(const SegmentsView& segments, std::int64_t num_elements) const;
    /// Prepares the same program for other sizes; may allocate and wait.
    ///
    /// Nothing is chosen or compiled: the plan keeps the stage of its first sizes, though a new plan might
    /// take another stage. explain() names that stage under "resized". Throws InputError if segments are
    /// given in another way, by indices of another width, or by keys of another width.
    void resize(const SegmentsView& segments, std::int64_t num_elements);
    /// For a plan on the host: returns the plan that the session would make for other sizes, without judging
    /// the laws again. `longest` is the length of the longest segment, or 0 if it is unknown. Returns nothing
    /// if the plan has no stage or lies on a device, or if resize() would throw.
    [[nodiscard]] std::optional<Plan> for_sizes(const SegmentsView& segments, std::int64_t num_elements,
                                                std::int64_t longest = 0) const;
    /// Returns the same plan with scratch memory of its own, for another stream.
    [[nodiscard]] Plan copy() const;
    /// Lets another stream run the plan. Runs queued before must have ended, or must be ordered before its
    /// runs.
    void move_to(CUstream_st* stream);
    /// Waits for `stream`. Throws InputError if a run has read past the end of a table, or met an element
    /// whose number no group has.
    void require_tables_read_inside(CUstream_st* stream = nullptr);

    /// True if run() accepts these scalars: none of them refutes a law on which the text relies.
    [[nodiscard]] bool takes_scalars(std::span<const ArrayView> inputs);

    /// The number of elements that a run reads, for ranges the sum of their lengths as last read. Other
    /// threads may call it while the plan runs.
    [[nodiscard]] std::int64_t num_items() const;
    [[nodiscard]] const std::string& stage() const;
    /// The emitted CUDA text; empty for a back end without stages.
    [[nodiscard]] const std::string& source() const;
    /// Explains the choice under "plan", "lookup", "why", "rule of thumb", ...; after a resize() to other
    /// sizes also under "resized". "bytes", "expected", "nearest" and "rule of thumb" refer to the
    /// current sizes.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> explain() const;
    [[nodiscard]] const std::vector<std::string>& warnings() const;
    /// Bytes of scratch memory, including the plan's own arrays of offsets.
    [[nodiscard]] std::int64_t scratch_bytes() const;

    struct State;
    explicit Plan(std::unique_ptr<State> state);

private:
    friend struct KeptPlan;
    /// Throws InputError after a move.
    [[nodiscard]] State& state() const;

    std::unique_ptr<State> state_;
};

}  // namespace segfold
