#pragma once
// Chooses the stage and the configuration of a fold, within the operator's laws.
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
#include "runtime/session/choice/spot.h"
#include "runtime/session/plan_request.h"

namespace segfold {

class Backend;

/// Makes a problem that relies only on `laws`. If `laws` do not allow the operator's identity, the problem's
/// operator has no identity.
Problem make_problem(const Operator& op, SegmentForm form, int index_bits, const OperatorLaws& laws);

/// Makes the problem of a workload. Kernels check reads of a table, unless the data prove that all reads are
/// in bounds.
Problem make_problem(const Workload& workload, const OperatorLaws& laws);

/// The source of a plan for which the caller did not ask.
enum class PlanSource : std::uint8_t { order, tuning_record, spot_record, measured_here, fast_first };

/// A stage with its configuration and its text.
struct PlanChoice {
    /// A stage of the catalogue; kept alive, because the choice may outlive the catalogue.
    std::shared_ptr<const Stage> stage = nullptr;
    bool is_asked = false;  ///< true if the caller named the stage
    Emitted emitted;
    PlanSource source = PlanSource::order;
    /// Not empty if scratch memory did not suffice for the preferred stage. Then has the stage's name, the
    /// bytes that it needs and the free bytes.
    std::string passed_over = {};

    /// The stage and its configuration, such as "warp_stream block_threads=256 items_per_thread=32".
    [[nodiscard]] std::string text() const { return print(Point{stage->name, emitted.configuration}); }

    /// Names the source of the choice: "asked for", "tuning record", "spot record", "measured here", "fast
    /// first" or "next best: ...". If the order of stages chose, it is "rule of thumb" for a stage with a
    /// `suits` line, and "measured rows" for other stages.
    [[nodiscard]] std::string chosen_by() const
    {
        return is_asked                              ? "asked for"
               : !passed_over.empty()                ? "next best: " + passed_over
               : source == PlanSource::tuning_record ? "tuning record"
               : source == PlanSource::spot_record   ? "spot record"
               : source == PlanSource::measured_here ? "measured here"
               : source == PlanSource::fast_first    ? "fast first"
               : stage->suits                        ? "rule of thumb"
                                                     : "measured rows";
    }
};

/// What a GPU allows a plan: free memory for scratch, and the form of segments on the device.
struct ScratchRoom {
    /// Returns the free bytes of the device; negative if the arrays alone do not fit. Called only if a plan
    /// needs more than 16 MiB of scratch memory. If this function is empty, every plan is assumed to fit.
    std::function<std::int64_t()> free_bytes;
    SegmentSizes sizes;
    int num_multiprocessors = 1;
    /// The form of segments on the device; empty for segments on the host. Segments on a device are not
    /// converted, and elements of ranges are not counted, so plans that need either are not chosen.
    std::optional<SegmentForm> lying = {};
};

/// A stage and its configuration.
struct PlannedPoint {
    const Stage* stage = nullptr;  ///< a stage of the catalogue
    Configuration configuration;
    PlanSource source = PlanSource::order;
};

/// Returns the stage and configuration that choose_plan() chooses if memory is unlimited. `facts` are
/// plan_facts() of the problem and its shape. Throws InputError like choose_plan().
PlannedPoint planned_point(const PlanRequest& request, const Problem& problem, const FormulaNames& facts,
                           const OperatorLaws& laws, const Catalogue& catalogue, const Lookup* looked_up);

/// Returns a stage and configuration with their text. Takes the text from `texts`, or emits it if `texts` is
/// null or lacks it.
PlanChoice choice_of(const PlannedPoint& point, const PlanRequest& request, const Problem& problem,
                     const Catalogue& catalogue, EmittedTexts* texts);

/// Returns the requested plan. For an open request (see PlanRequest::is_open()), returns the plan in
/// `looked_up`, or the plan of the rule of thumb if there is none.
///
/// If the plan's scratch memory does not fit `room`, an open request gets the next stage in the ranking whose
/// memory fits. If the plan cannot read segments in their form on the device, an open request gets a stage
/// that can. Texts in `texts` are not emitted again.
///
/// Throws InputError for a stage that does not serve the problem; if a refuted law is the reason, the message
/// has the counter-example. Throws InputError for an operator with a refuted identity, because all stages use
/// the identity. Throws DeviceError if scratch memory does not fit and either the request is not open or no
/// stage fits.
PlanChoice choose_plan(const PlanRequest& request, const Problem& problem, const Shape& shape,
                       const OperatorLaws& laws, const Catalogue& catalogue,
                       const Lookup* looked_up = nullptr, const ScratchRoom* room = nullptr,
                       EmittedTexts* texts = nullptr);

/// Returns law_warnings() of a fold of `op` by the stage `taken`. If only NaN refutes associativity, the
/// warning names a stage that folds from left to right, like the reference. There is no such warning if
/// `taken` is such a stage.
std::vector<std::string> law_warnings(OperatorLaws laws, const Operator& op, const Problem& problem,
                                      const Shape& shape, const Catalogue& catalogue, const Stage& taken);

/// The sources of choices, which the folds and plans of a session share.
struct Chooser {
    std::shared_ptr<const Catalogue> catalogue;
    std::shared_ptr<const RecordStore> records = nullptr;  ///< null if no records are used
    std::string without_records = {};                      ///< the reason why `records` is null
    std::optional<DeviceIdentity> device = {};             ///< the device whose records are used
    std::shared_ptr<EmittedTexts> texts = {};              ///< cache of emitted texts; may be null
    std::shared_ptr<SpotRecords> spots = nullptr;          ///< null if `records` is null
    std::shared_ptr<Backend> backend = nullptr;  ///< knows how long texts take to compile; may be null

    /// Looks up the fastest plan for a problem in the records, by the rules in spot.h.
    [[nodiscard]] Lookup look_up(const Problem& problem, const Shape& shape, const OperatorLaws& laws,
                                 const PlanRequest& request) const;
    /// The key by which records of a problem are looked up. `device` must not be empty.
    [[nodiscard]] Question question(const Problem& problem, const Shape& shape) const
    {
        return {*device, problem, shape, *catalogue};
    }
    /// True if the records may choose the plan of a problem.
    [[nodiscard]] bool asks_records_of(const Problem& problem) const
    {
        return (records && knows_class(*records, *device, problem)) || (spots && spots->knows(problem.op));
    }
};

/// The arguments of a choice.
struct Wanted {
    const Operator& op;  ///< the original operator, for warnings; make_problem() may change it
    const Problem& problem;
    const Shape& shape;
    const OperatorLaws& laws;
    const PlanRequest& request;
    const Traffic& traffic;
    const ScratchRoom* room = nullptr;  ///< restrictions of plans on a GPU; null on the host
    bool is_once = false;               ///< true for the first fold of an operator; see First
};

/// A choice with its reasons.
struct Chosen {
    std::optional<PlanChoice> plan;  ///< empty for a back end without stages
    /// The plan's text; null for a back end without stages.
    [[nodiscard]] const Emitted* text() const { return plan ? &plan->emitted : nullptr; }
    Explanation explanation;
    std::vector<std::string> warnings;  ///< warnings about the operator's laws
};

/// Chooses a plan by choose_plan(), with the plan that the records suggest, and explains the choice.
Chosen choose(const Chooser& chooser, const Wanted& wanted);

}  // namespace segfold
