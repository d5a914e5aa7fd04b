#pragma once
// The members of a plan; internal.
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/data/workload.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/choice/plan_program.h"
#include "runtime/session/plan.h"

namespace segfold {

/// The data that a session passes to a new plan.
struct PlanParts {
    Operator op;
    std::shared_ptr<Backend> backend;
    Chooser chooser;
    OperatorLaws laws;
    PlanOptions options;
    std::shared_ptr<std::mutex> turn;  ///< locked during runs; the back end serves one thread at a time
    std::vector<Law> assumed = {};     ///< refuted laws on which the plan relies at the caller's request
    std::string fold_call = {};        ///< name of the fold function in messages
};

Plan make_plan(PlanParts parts, const SegmentsView& segments, std::int64_t num_elements);

/// Sizes and types of the segments that a plan serves.
struct PlanSizes {
    LayoutKind kind = LayoutKind::whole;
    SegmentForm form = SegmentForm::whole;  ///< the form in which kernels read the segments
    SegmentSizes sizes;
    int key_bytes = 0;
    Type number_type = Type::i32;  ///< type of the group numbers

    bool operator==(const PlanSizes&) const = default;
};

/// Returns the sizes of segments. Throws InputError for segments that no plan serves.
PlanSizes plan_sizes(const SegmentsView& segments, std::int64_t num_elements);

/// Returns plan_sizes(), with the length of rows from `options`.
PlanSizes sizes_of_plan(const PlanOptions& options, const SegmentsView& segments, std::int64_t num_elements);

/// True if the program of a plan of sizes `plan` also serves the sizes `given`. The program's text then
/// depends on no property in which the two differ.
bool is_resizable(const PlanSizes& plan, const PlanSizes& given);

/// The type of indices of 32 or 64 bits.
inline Type index_type(int bits) { return bits == 64 ? Type::i64 : Type::i32; }

/// A plan on a GPU.
class DevicePlan;

namespace cpu {
class Program;
}

struct Plan::State {
    std::shared_ptr<const PlanParts> parts;
    std::int64_t known_longest = 0;  ///< length of the longest segment; 0 if unknown
    std::mutex mutex = {};           ///< locked during a run
    /// The laws and facts by which the program is chosen; they are the same for all sizes.
    struct Basis {
        OperatorLaws laws;
        Problem problem;
        FormulaNames facts;  ///< facts of the problem
        bool asks_records;   ///< true if records may choose the program
        std::shared_ptr<PlanPrograms> programs;
    };
    std::shared_ptr<const Basis> basis;  ///< null for a back end without stages; so are the next two
    std::shared_ptr<const PlanProgram> program;
    std::shared_ptr<const Explanation> explanation;
    std::vector<std::string> warnings;
    PlanSizes sizes;
    PlanSizes sizes_at_choice;                ///< the sizes before the first resize()
    std::optional<Shape> ranges = {};         ///< for ranges on the host: the shape that was last read
    std::atomic<std::int64_t> num_items = 0;  ///< see Plan::num_items()
    std::unique_ptr<DevicePlan> device;       ///< null on the host
    std::unique_ptr<cpu::Program> native;     ///< only on the back end cpu; null until bind_native()
    bool is_on_device = false;
    /// Tells which scalars may refute laws on which the text relies.
    ScalarDoubt scalar_doubt = ScalarDoubt::none;
    ScalarValues judged = {};  ///< the latest scalars that passed require_scalars()
    std::string nothing;
    /// Another stage that is compiled in the background for Plan::measure().
    struct Rival {
        Point point;
        std::future<std::unique_ptr<State>> state;  ///< throws an Error if the stage cannot serve the plan
    };
    std::vector<Rival> rivals = {};          ///< see begin_rivals()
    std::optional<Point> known = {};         ///< the fastest candidate, if spot records have it
    bool was_measured = false;               ///< true after Plan::measure() has decided
    std::atomic<bool> was_captured = false;  ///< true after a run into a graph

    State(PlanParts made_of, const SegmentsView& segments, std::int64_t num_elements);
    State(const State& other);
    /// Makes a plan on the host for other sizes; see Plan::for_sizes().
    State(const State& other, const PlanSizes& other_sizes, const std::optional<Shape>& read,
          std::int64_t longest);
    ~State();

    /// The choice of the program; null for a back end without stages.
    [[nodiscard]] const PlanChoice* choice() const { return program ? &program->choice : nullptr; }
    /// Sets the index width in `of` such that an index can count the elements of all ranges. For ranges on
    /// the host. `counted` is the shape of the ranges; if it is empty, each range may have all elements.
    void count_items(PlanSizes& of, const std::optional<Shape>& counted) const;
    /// Sets the index width of `segments` to the plan's width. For ranges on the host. Throws InputError if
    /// an index of this width cannot count the elements of all ranges.
    void require_items(Segments& segments) const;
    /// Returns the shape for which a stage is chosen.
    [[nodiscard]] Shape shape_for(const PlanSizes& of) const;
    /// Chooses the stage that a new plan of these sizes would have.
    [[nodiscard]] Chosen choose(const PlanSizes& of) const;
    /// Returns `explanation`. After a resize(), adds the plan that the session would choose for the new
    /// sizes.
    [[nodiscard]] Explanation explained() const;
    /// True if data of these sizes may overflow and so break laws.
    [[nodiscard]] bool may_overflow(const PlanSizes& of) const;
    /// Returns the laws on which a plan may rely, which must hold for unknown data.
    [[nodiscard]] OperatorLaws plan_laws(OperatorLaws laws) const;
    /// Makes the problem of a plan of these sizes with the given laws.
    [[nodiscard]] Problem problem_of(const PlanSizes& of, const OperatorLaws& laws) const;
    /// Throws InputError if scalars in host memory refute a law on which the text relies.
    void require_scalars(std::span<const ArrayView> inputs);
    /// Begins to make a plan by each of the other candidates(), each on its own thread. Begins none if the
    /// caller named a stage. If spot records tell the fastest candidate, only sets `known`.
    void begin_rivals(const SegmentsView& segments, int num_stages);
    /// Returns at most `num_stages` candidates: the plan's own stage, then the best-ranked other stages.
    [[nodiscard]] std::vector<Point> candidates(int num_stages) const;
    /// A function that makes a plan of the same sizes by another stage. It throws like Session::plan().
    using Maker = std::function<std::unique_ptr<State>()>;
    [[nodiscard]] Maker maker(const Point& point, const SegmentsView& segments) const;
    /// Replaces the plan `place` by `kept`, which `source` chose. `taken` tells the user the choice; if it is
    /// empty, the text names the plan and the source.
    static void take(std::unique_ptr<State>& place, std::unique_ptr<State> kept, PlanSource source,
                     std::string taken = {});
    void load_native();
    /// True if runs call compiled native code.
    [[nodiscard]] bool is_native() const;
    void bind_native(const SegmentSizes& to);
    void run_on_host(std::span<const ArrayView> inputs, const SegmentsView& segments,
                     std::span<const MutableArrayView> results);
    void run_native(std::span<const ArrayView> inputs, const SegmentsView& segments,
                    std::span<const MutableArrayView> results);
};

/// Throws InputError if segments differ from the plan's, or if their arrays are not in memory of kind
/// `place`.
void require_segments(const Plan::State& state, const SegmentsView& segments, std::int64_t num_elements,
                      Place place);

/// Throws InputError if segments are on a device but the plan's back end folds arrays on the host.
void require_place(const PlanParts& parts, const SegmentsView& segments);

/// Returns the length of the longest segment, which it reads from filled offsets, lengths or ranges. Returns
/// 0 for other layouts.
std::int64_t longest_of(const SegmentsView& segments, const cuda::Context* context);

/// Throws InputError unless is_resizable() to these sizes.
void require_resizable(const Plan::State& state, const PlanSizes& given);

}  // namespace segfold
