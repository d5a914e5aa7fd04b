#pragma once
// Which stage runs, in which configuration, and whether the operator's laws allow it.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "codegen/emit.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/data/workload.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/session/choice/emitted_texts.h"
#include "runtime/session/choice/explanation.h"
#include "runtime/session/choice/lookup.h"
#include "runtime/session/choice/point.h"
#include "runtime/session/plan_request.h"

namespace segfold {

/// A problem that relies on no more than `laws` allow; its operator has no identity where they say so.
Problem make_problem(const Operator& op, SegmentForm form, int index_bits, const OperatorLaws& laws);

/// The problem of a workload; reads of tables that its data do not prove to lie inside are checked.
Problem make_problem(const Workload& workload, const OperatorLaws& laws);

/// A stage with its configuration and its text.
struct PlanChoice {
    std::shared_ptr<const Stage> stage = nullptr;  ///< of the catalogue, which may be gone before the choice
    bool is_asked = false;                         ///< by name; else a record or the rule of thumb chose
    Emitted emitted;
    bool is_tuned = false;  ///< a tuning record chose
    /// Which stage would have been taken, and how much scratch memory it needs and there is; empty where that
    /// did not decide.
    std::string passed_over = {};

    /// "warp_stream block_threads=256 items_per_thread=32"
    [[nodiscard]] std::string text() const { return print(tune::Point{stage->name, emitted.configuration}); }

    /// "asked for", "tuning record", "rule of thumb", "next best: ..."
    [[nodiscard]] std::string chosen_by() const
    {
        return is_asked               ? "asked for"
               : !passed_over.empty() ? "next best: " + passed_over
               : is_tuned             ? "tuning record"
                                      : "rule of thumb";
    }
};

/// What a GPU has for a plan: room for scratch memory, and the segments as they lie.
struct ScratchRoom {
    /// Asked where a plan needs more than a little; negative: the arrays do not fit either. Empty: nobody
    /// knows, and every plan fits.
    std::function<std::int64_t()> free_bytes;
    SegmentSizes sizes;
    int num_multiprocessors = 1;
    /// The form of segments that lie on the device, where nobody converts them or counts the items of ranges:
    /// other texts are not taken.
    std::optional<SegmentForm> lying = {};
};

/// A stage and its configuration.
struct PlannedPoint {
    const Stage* stage = nullptr;  ///< of the catalogue
    Configuration configuration;
    bool is_tuned = false;  ///< a tuning record chose
};

/// What choose_plan() takes where there is room enough, by plan_facts(). Throws InputError as it does.
PlannedPoint planned_point(const PlanRequest& request, const Problem& problem, const FormulaNames& facts,
                           const OperatorLaws& laws, const Catalogue& catalogue, const tune::Point* tuned);

/// The same with its text; what `texts` remembers is not emitted anew.
PlanChoice choice_of(const PlannedPoint& point, const PlanRequest& request, const Problem& problem,
                     const Catalogue& catalogue, EmittedTexts* texts);

/// The plan that is asked for, or `tuned` where the request is open, or that of the rule of thumb.
///
/// Where its scratch memory does not fit `room`, an open request gets the stage of the next rank whose does;
/// where it does not take the segments as they lie, it gets one that does.
/// Throws InputError for a stage that cannot serve, with the counter-example where that is because a law is
/// refuted, and for an operator whose identity is refuted, which all stages rely on; DeviceError where
/// scratch memory does not fit and the request is not open, or none fits. What `texts` remembers is not
/// emitted anew.
PlanChoice choose_plan(const PlanRequest& request, const Problem& problem, const Shape& shape,
                       const OperatorLaws& laws, const Catalogue& catalogue,
                       const tune::Point* tuned = nullptr, const ScratchRoom* room = nullptr,
                       EmittedTexts* texts = nullptr);

/// law_warnings() of a fold of `op` by `taken`. Where NaN alone refutes associativity they name a stage that
/// folds from left to right, as the reference does, and say nothing of that law where `taken` is one.
std::vector<std::string> law_warnings(OperatorLaws laws, const Operator& op, const Problem& problem,
                                      const Shape& shape, const Catalogue& catalogue, const Stage& taken);

/// Whom a choice asks; the same for the folds of a session and for its plans.
struct Chooser {
    std::shared_ptr<const Catalogue> catalogue;
    std::shared_ptr<const tune::RecordStore> records = nullptr;  ///< null: none is asked
    std::string without_records = {};                            ///< why
    std::optional<DeviceIdentity> device = {};                   ///< as records know it
    std::shared_ptr<EmittedTexts> texts = {};                    ///< that are not emitted anew

    /// What the records say.
    [[nodiscard]] tune::Lookup look_up(const Problem& problem, const Shape& shape) const;
    /// Whether they may choose the plan of a problem.
    [[nodiscard]] bool asks_records_of(const Problem& problem) const
    {
        return records && tune::knows_class(*records, *device, problem);
    }
};

/// What is chosen for.
struct Wanted {
    const Operator& op;  ///< as its author has it, for warnings
    const Problem& problem;
    const Shape& shape;
    const OperatorLaws& laws;
    const PlanRequest& request;
    const Traffic& traffic;
    const ScratchRoom* room = nullptr;  ///< of a GPU
};

/// A choice with its reasons.
struct Chosen {
    std::optional<PlanChoice> plan;  ///< nothing for a back end that knows no stages
    Explanation explanation;
    std::vector<std::string> warnings;  ///< of the laws
};

/// What choose_plan() takes, with what the records, the laws and the rule of thumb say of it.
Chosen choose(const Chooser& chooser, const Wanted& wanted);

}  // namespace segfold
