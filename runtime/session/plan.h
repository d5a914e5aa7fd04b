#pragma once
// A plan: chosen and compiled once, run on any arrays of its sizes.
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

/// Memory of the GPU from the caller. `allocate` gives memory aligned to 256 bytes and throws where there is
/// none.
struct DeviceAllocator {
    std::function<void*(std::size_t bytes)> allocate;
    std::function<void(void* memory)> release;
};

/// How a plan is made.
struct PlanOptions {
    PlanRequest request = {};
    std::int64_t num_features = 1;  ///< numbers of each row, for operators over rows
    std::int64_t longest = 0;       ///< elements of the longest segment, where the caller knows it
    /// Arrays of segments on a device are checked before each run as those of the host are: a pass over them
    /// and a wait for the GPU. What is wrong is an InputError; without, it is undefined.
    bool validates_segments = false;
    /// Reads of tables by computed indices are not checked in the kernel of a GPU; the caller guarantees that
    /// they lie inside. On the host they are checked all the same.
    bool trusts_tables = false;
    /// Columns on a device hold no infinities and no NaN: an identity that is neutral on finite values alone
    /// may be relied on.
    bool assumes_finite = false;
    /// An identity that no search refutes, and that elements may refute all the same, is not relied on.
    bool avoids_doubt = false;
    /// Why associativity that NaN alone refutes is not relied on: "'x' has NaN". Empty: it is.
    std::string with_nan = {};
    /// The data of each run overflow nowhere in the fold. Without, the plan warns where data of its sizes and
    /// types may, and laws on which it relies hold while they do not.
    bool assumes_no_overflow = false;
    DeviceAllocator scratch = {};  ///< without, the plan allocates for itself
};

/// A stage compiled for an operator, segments and sizes.
///
/// Ranges that lie on the host are read when the plan is made, and by resize(): what they hold decides. Other
/// arrays of segments are not read before a run.
///
/// On a GPU a run queues kernels on the caller's stream: it allocates nothing, waits for nothing, and may be
/// captured into a graph. Scratch memory belongs to the plan, so one stream at a time may run it: the stream
/// of the first run keeps it until move_to(); each further stream takes a copy(). On other back ends a run
/// takes arrays of the host and has ended when it returns. Copies share the compiled program. A plan may
/// outlive its session. Each call throws InputError after the plan was moved from.
class Plan {
public:
    ~Plan();
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;

    /// Folds: an array for each parameter, the arrays of segments, an array for each result field.
    ///
    /// On a GPU all lie on the device; a scalar may lie on the host as well, and is read before the run
    /// returns. Results may be longer than the plan's; what lies behind these stays as it is. Throws
    /// InputError for an array whose number, type, length, rows or place are not the plan's, that has no
    /// address, or that is written and shares memory with another array of the call, and for scalars on the
    /// host that refute a law on which the text relies, before anything is queued.
    void run(std::span<const ArrayView> inputs, const SegmentsView& segments,
             std::span<const MutableArrayView> results, CUstream_st* stream = nullptr);
    void run(std::initializer_list<ArrayView> inputs, const SegmentsView& segments,
             std::initializer_list<MutableArrayView> results, CUstream_st* stream = nullptr)
    {
        run(std::span(inputs.begin(), inputs.size()), segments, std::span(results.begin(), results.size()),
            stream);
    }

    /// Throws InputError, as run() does, for segments and a number of elements that are not the plan's.
    ///
    /// For callers that fold without the plan what was meant for it. Nothing is read but sizes and types, so
    /// that the arrays may lie anywhere.
    void require_sizes(const SegmentsView& segments, std::int64_t num_elements) const;
    /// Prepares the same program for other sizes; may allocate and wait.
    ///
    /// Nothing is chosen or compiled: the stage stays the one that was chosen for the first sizes, though a
    /// new plan might take another. explain() says under "resized" which one that would be. Throws InputError
    /// where segments are given in another way, by indices of another width, or by keys of another width.
    void resize(const SegmentsView& segments, std::int64_t num_elements);
    /// Of a plan on the host, the plan that the session would make for other sizes, whose longest segment has
    /// `longest` elements where that is known: the laws are not judged again. Nothing where segments are
    /// given in another way.
    [[nodiscard]] std::optional<Plan> for_sizes(const SegmentsView& segments, std::int64_t num_elements,
                                                std::int64_t longest = 0) const;
    /// The same plan with scratch memory of its own, for another stream.
    [[nodiscard]] Plan copy() const;
    /// Lets another stream run the plan; what was queued before must be done or ordered before it.
    void move_to(CUstream_st* stream);
    /// Waits for `stream` and throws InputError where a run has read a table outside of its length.
    void require_tables_read_inside(CUstream_st* stream = nullptr);

    /// Whether run() takes these scalars: none of them refutes a law on which the text relies.
    [[nodiscard]] bool takes_scalars(std::span<const ArrayView> inputs);

    /// About how many elements a run goes through: those in all ranges, where the plan has seen some. Threads
    /// may ask while others run the plan.
    [[nodiscard]] std::int64_t num_items() const;
    [[nodiscard]] const std::string& stage() const;
    /// The emitted CUDA text; empty for a back end without stages.
    [[nodiscard]] const std::string& source() const;
    /// Why this plan: "plan", "lookup", "why", "rule of thumb", ...; after a resize() that has led to other
    /// sizes also "resized". "bytes" and "rule of thumb" are of the sizes that the plan has.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> explain() const;
    [[nodiscard]] const std::vector<std::string>& warnings() const;
    /// Bytes of scratch memory, the plan's own arrays of offsets included.
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
