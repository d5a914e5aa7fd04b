#pragma once
// The members of a plan; internal.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/choice/plan_program.h"
#include "runtime/session/plan.h"

namespace segfold {

/// What a session hands to a plan.
struct PlanParts {
    Operator op;
    std::shared_ptr<Backend> backend;
    Chooser chooser;
    OperatorLaws laws;
    PlanOptions options;
    std::shared_ptr<std::mutex> turn;  ///< of runs of the back end, which serves one thread at a time
    std::vector<Law> assumed = {};     ///< relied on although they are refuted
    std::string fold_call = {};        ///< as messages name it; see SessionOptions
};

Plan make_plan(PlanParts parts, const SegmentsView& segments, std::int64_t num_elements);

/// Sizes and types of the segments that a plan serves.
struct PlanSizes {
    LayoutKind kind = LayoutKind::whole;
    SegmentForm form = SegmentForm::whole;  ///< in which kernels read them
    SegmentSizes sizes;
    int key_bytes = 0;

    bool operator==(const PlanSizes&) const = default;
};

/// Throws InputError for segments that no plan can have.
PlanSizes plan_sizes(const SegmentsView& segments, std::int64_t num_elements);

/// With the length of rows, which segments do not tell.
PlanSizes sizes_of_plan(const PlanOptions& options, const SegmentsView& segments, std::int64_t num_elements);

/// Whether the program of a plan serves other sizes: what it was emitted for stays.
bool is_resizable(const PlanSizes& plan, const PlanSizes& given);

/// The type of indices of 32 or 64 bits.
inline Type index_type(int bits) { return bits == 64 ? Type::i64 : Type::i32; }

/// A plan of the GPU.
class DevicePlan;

namespace cpu {
class NativePlan;
}

struct Plan::State {
    std::shared_ptr<const PlanParts> parts;
    std::int64_t known_longest = 0;  ///< elements of the longest segment of these sizes; see PlanOptions
    std::mutex mutex = {};           ///< of run
    /// What a plan relies on, and what its text is emitted for: the same for all sizes.
    struct Basis {
        OperatorLaws laws;
        Problem problem;
        FormulaNames facts;  ///< of the problem
        bool asks_records;   ///< they may choose the program
        std::shared_ptr<PlanPrograms> programs;
    };
    std::shared_ptr<const Basis> basis;  ///< null for a back end without stages, as the next two
    std::shared_ptr<const PlanProgram> program;
    std::shared_ptr<const Explanation> explanation;
    std::vector<std::string> warnings;
    PlanSizes sizes;
    PlanSizes sizes_at_choice;                ///< before any resize(): the stage was chosen for them
    std::optional<Shape> ranges = {};         ///< of ranges on the host: those that the sizes were taken from
    std::atomic<std::int64_t> num_items = 0;  ///< elements in all ranges, or elements
    std::unique_ptr<DevicePlan> device;       ///< null on the host
    std::unique_ptr<cpu::NativePlan> native;  ///< null elsewhere than on the back end cpu, and until a run
    SegmentSizes native_sizes = {};           ///< that it is bound to
    bool is_on_device = false;
    /// Which scalars may refute what the text relies on.
    ScalarDoubt scalar_doubt = ScalarDoubt::none;
    ScalarValues judged = {};  ///< the last scalars for which the text is right
    std::string nothing;

    State(PlanParts made_of, const SegmentsView& segments, std::int64_t num_elements);
    State(const State& other);
    /// A plan on the host for other sizes; see Plan::for_sizes().
    State(const State& other, const PlanSizes& other_sizes, const std::optional<Shape>& read,
          std::int64_t longest);
    ~State();

    /// What the program was chosen as; null for a back end without stages.
    [[nodiscard]] const PlanChoice* choice() const { return program ? &program->choice : nullptr; }
    /// Makes the indices of sizes wide enough for the items of all ranges on the host; where nobody has
    /// counted them, each range may have all elements.
    void count_items(PlanSizes& of, const std::optional<Shape>& counted) const;
    /// Gives ranges on the host the plan's width of indices. Throws InputError where they have more items
    /// than the plan can count.
    void require_items(Segments& segments) const;
    /// The sizes that a stage is chosen by.
    [[nodiscard]] Shape shape_for(const PlanSizes& of) const;
    /// What a new plan of these sizes takes.
    [[nodiscard]] Chosen choose(const PlanSizes& of) const;
    /// `explanation`, and after a resize() what a new plan would take.
    [[nodiscard]] Explanation explained() const;
    /// Whether data of these sizes, which the plan does not see, may break laws by overflow.
    [[nodiscard]] bool may_overflow(const PlanSizes& of) const;
    /// What laws mean for a plan, which knows no data.
    [[nodiscard]] OperatorLaws plan_laws(OperatorLaws laws) const;
    /// The problem of a plan of these sizes, for laws that are known.
    [[nodiscard]] Problem problem_of(const PlanSizes& of, const OperatorLaws& laws) const;
    /// Throws InputError where the scalars, as far as the host has them, refute a law that the text relies
    /// on.
    void require_scalars(std::span<const ArrayView> inputs);
    void load_native();
    /// Whether runs call a native text.
    [[nodiscard]] bool is_native() const;
    void bind_native(const SegmentSizes& to);
    void run_on_host(std::span<const ArrayView> inputs, const SegmentsView& segments,
                     std::span<const MutableArrayView> results);
};

/// Throws InputError where segments differ from the plan's, whose arrays lie in `place`.
void require_segments(const Plan::State& state, const SegmentsView& segments, std::int64_t num_elements,
                      Place place);

/// Throws InputError for segments on a device of a plan whose back end folds arrays of the host.
void require_place(const PlanParts& parts, const SegmentsView& segments);

/// Throws InputError unless the program of a plan serves these sizes, too: what it was emitted for stays.
void require_resizable(const Plan::State& state, const PlanSizes& given);

}  // namespace segfold
