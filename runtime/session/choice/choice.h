#pragma once
// Chooses the stage and the configuration of a fold, as the operator's laws allow.
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

/// Makes a problem that relies only on `laws`. The operator's identity is removed if `laws` say so.
Problem make_problem(const Operator& op, SegmentForm form, int index_bits, const OperatorLaws& laws);

/// Makes the problem of a workload. Reads of a table are checked unless the data prove that all of them lie
/// inside.
Problem make_problem(const Workload& workload, const OperatorLaws& laws);

/// A stage with its configuration and its text.
struct PlanChoice {
    /// A stage of the catalogue; the choice may outlive the catalogue.
    std::shared_ptr<const Stage> stage = nullptr;
    bool is_asked = false;  ///< true if the caller named the stage
    Emitted emitted;
    bool is_tuned = false;  ///< true if a tuning record chose the plan
    /// If the preferred stage lacked scratch memory: its name, the bytes that it needs and the bytes that are
    /// free. Else empty.
    std::string passed_over = {};

    /// "warp_stream block_threads=256 items_per_thread=32"
    [[nodiscard]] std::string text() const { return print(Point{stage->name, emitted.configuration}); }

    /// "asked for", "tuning record", "next best: ..."; "rule of thumb" of a stage that ranks itself, else
    /// "measured rows".
    [[nodiscard]] std::string chosen_by() const
    {
        return is_asked               ? "asked for"
               : !passed_over.empty() ? "next best: " + passed_over
               : is_tuned             ? "tuning record"
               : stage->suits         ? "rule of thumb"
                                      : "measured rows";
    }
};

/// Facts of a GPU that restrict plans: free memory for scratch, and the form of segments on the device.
struct ScratchRoom {
    /// Returns the free bytes of the device; negative if the arrays alone do not fit. Called only if a plan
    /// needs more than 16 MiB. Empty: unknown, and every plan is taken to fit.
    std::function<std::int64_t()> free_bytes;
    SegmentSizes sizes;
    int num_multiprocessors = 1;
    /// The form of segments that lie on the device. Nothing converts such segments or counts the items of
    /// ranges, so plans whose text reads another form, or counts items, are not taken.
    std::optional<SegmentForm> lying = {};
};

/// A stage and its configuration.
struct PlannedPoint {
    const Stage* stage = nullptr;  ///< a stage of the catalogue
    Configuration configuration;
    bool is_tuned = false;  ///< true if a tuning record chose the plan
};

/// Returns the stage and configuration of choose_plan() if memory is no limit. `facts` are plan_facts() of
/// the problem and its shape. Throws the InputErrors of choose_plan().
PlannedPoint planned_point(const PlanRequest& request, const Problem& problem, const FormulaNames& facts,
                           const OperatorLaws& laws, const Catalogue& catalogue, const Point* tuned);

/// Emits the text of a stage and configuration. Takes the text from `texts`, if given, when it was emitted
/// before.
PlanChoice choice_of(const PlannedPoint& point, const PlanRequest& request, const Problem& problem,
                     const Catalogue& catalogue, EmittedTexts* texts);

/// Returns the requested plan; for an open request the plan `tuned`, if given, else the plan of the rule of
/// thumb.
///
/// If the plan's scratch memory does not fit `room`, an open request gets the stage of the next rank that
/// fits. If the plan cannot read the segments in their form on the device, an open request gets a stage that
/// can. Texts that `texts` holds are not emitted again.
///
/// Throws InputError for a stage that cannot serve, with the counter-example if a refuted law is the reason.
/// Throws InputError for an operator whose identity is refuted, because all stages use the identity. Throws
/// DeviceError if scratch memory does not fit, and the request is not open or no stage fits.
PlanChoice choose_plan(const PlanRequest& request, const Problem& problem, const Shape& shape,
                       const OperatorLaws& laws, const Catalogue& catalogue, const Point* tuned = nullptr,
                       const ScratchRoom* room = nullptr, EmittedTexts* texts = nullptr);

/// Returns law_warnings() of a fold of `op` by the stage `taken`. If NaN alone refutes associativity, the
/// warning names a stage that folds from left to right like the reference. There is no such warning if
/// `taken` folds so itself.
std::vector<std::string> law_warnings(OperatorLaws laws, const Operator& op, const Problem& problem,
                                      const Shape& shape, const Catalogue& catalogue, const Stage& taken);

/// The sources of a choice, shared by the folds and the plans of a session.
struct Chooser {
    std::shared_ptr<const Catalogue> catalogue;
    std::shared_ptr<const RecordStore> records = nullptr;  ///< null: no records are used
    std::string without_records = {};                      ///< the reason why `records` is null
    std::optional<DeviceIdentity> device = {};             ///< the device by which records are found
    std::shared_ptr<EmittedTexts> texts = {};              ///< texts emitted before; may be null

    /// Looks the problem up in the records.
    [[nodiscard]] Lookup look_up(const Problem& problem, const Shape& shape) const;
    /// Whether they may choose the plan of a problem.
    [[nodiscard]] bool asks_records_of(const Problem& problem) const
    {
        return records && knows_class(*records, *device, problem);
    }
};

/// The arguments of a choice.
struct Wanted {
    const Operator& op;  ///< the operator before make_problem() changed it; for warnings
    const Problem& problem;
    const Shape& shape;
    const OperatorLaws& laws;
    const PlanRequest& request;
    const Traffic& traffic;
    const ScratchRoom* room = nullptr;  ///< null on the host
};

/// A choice with its reasons.
struct Chosen {
    std::optional<PlanChoice> plan;  ///< empty for a back end without stages
    Explanation explanation;
    std::vector<std::string> warnings;  ///< warnings about the operator's laws
};

/// Chooses a plan by choose_plan() with the plan of the records, and explains the choice.
Chosen choose(const Chooser& chooser, const Wanted& wanted);

}  // namespace segfold
