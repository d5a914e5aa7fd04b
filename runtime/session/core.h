#pragma once
// The inside of a session, for the program, Python and rooms that measure; internal.
#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/session/fold_run.h"
#include "runtime/session/kept/kept_plans.h"
#include "runtime/session/session.h"

namespace segfold {

/// The back end, stages, judged laws, tuning records and kept plans of a session.
///
/// All are set up on first use. Several threads may use it; runs take turns.
class SessionCore {
public:
    /// Throws InputError for options that exclude each other.
    explicit SessionCore(SessionOptions options);
    SessionCore(std::unique_ptr<Backend> backend, SessionOptions options);

    [[nodiscard]] Backend& backend() { return *running(); }
    /// The stages. The reference is valid as long as the session lives.
    [[nodiscard]] const Catalogue& catalogue() { return *catalogue(*running()); }

    /// Returns the laws of an operator before any data are known; see Session::laws(). With `proof`, judges
    /// them anew.
    [[nodiscard]] OperatorLaws laws(const Operator& op, const ScalarValues& scalars = {},
                                    const prove::ProofOptions* proof = nullptr);
    /// Returns the laws on which a fold of a workload may rely: the laws for its scalars that its data do not
    /// refute.
    [[nodiscard]] OperatorLaws laws(const Workload& workload);

    /// Chooses a plan for a workload. `without_records` is the reason to use no tuning records; empty:
    /// records are used.
    [[nodiscard]] Chosen choose(const Workload& workload, const PlanRequest& request,
                                const std::string& without_records = "");
    /// Chooses a plan for a problem whose data are known only by their shape and the laws that hold for them.
    [[nodiscard]] Chosen choose(const Problem& problem, const Shape& shape, const OperatorLaws& laws,
                                const PlanRequest& request, const std::string& without_records = "");
    /// Runs a text; `plan` is null for a back end without stages. `times`, if not null, receives the times of
    /// the run's parts.
    Results run(const Workload& workload, const PlanText* plan, RunTimes* times = nullptr);

    /// Chooses a plan, runs it, and checks the results if wished. `others` are sessions on other devices of
    /// the same back end, which share the slices. Throws like Session::fold().
    [[nodiscard]] FoldRun fold(const Workload& workload, const FoldWishes& wishes,
                               std::span<SessionCore* const> others = {});
    /// Folds the caller's arrays; see Session::fold().
    [[nodiscard]] Folded fold(const Operator& op, std::span<const ArrayView> inputs,
                              const SegmentsView& segments, const FoldOptions& options);
    /// Folds elements in groups, or by keys in any order: as fold() does, by a kernel that takes_groups(),
    /// else by copies sorted by group.
    [[nodiscard]] Folded fold_groups(const Operator& op, std::span<const ArrayView> inputs,
                                     const SegmentsView& segments, const FoldOptions& options);
    /// True if a kernel of the back end folds elements by numbers of groups as they lie, and is expected to
    /// do so faster than elements are sorted. `segments` have a number of groups. Without `data`, a plan
    /// serves any.
    [[nodiscard]] bool takes_groups(const Operator& op, const SegmentsView& segments,
                                    std::int64_t num_elements, const PlanRequest& request,
                                    const Workload* data = nullptr);
    /// Folds a workload that lends the caller's arrays, and tells of the plan and the check.
    [[nodiscard]] Folded fold_workload(const Operator& op, const Workload& workload,
                                       const SegmentsView& segments, const FoldOptions& options);
    /// Folds the caller's arrays without a kept plan: judges the laws on these data and chooses anew.
    [[nodiscard]] Folded fold_anew(const Operator& op, std::span<const ArrayView> inputs,
                                   const SegmentsView& segments, const FoldOptions& options);
    /// Folds by a kept plan. Returns nothing if no plan can be kept, and for wrong arrays: fold_anew() then
    /// reports the error.
    [[nodiscard]] std::optional<Folded> fold_by_kept_plan(const Operator& op,
                                                          std::span<const ArrayView> inputs,
                                                          const SegmentsView& segments,
                                                          const FoldOptions& options);

    [[nodiscard]] Plan plan(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                            const PlanOptions& options);
    /// Returns the plans of an operator that the session keeps for all callers.
    [[nodiscard]] std::shared_ptr<OperatorPlans> plans_of(const Operator& op);
    /// Returns a kept plan for a fold on the host, or makes one and keeps it. Returns none if no plan can be
    /// kept, or if only fold_anew(), which reads the data, can tell the laws that hold. Replaces flags or
    /// keys in `fold` by offsets. `run` runs work that takes long.
    [[nodiscard]] PlannedFold plan_for(const std::shared_ptr<Fold>& fold, const Runner& run);

    void forget_records();
    /// The number of changes of tuning records and of knowledge about laws. After a change, the session might
    /// choose other plans than those kept before.
    [[nodiscard]] std::uint64_t num_findings() const;

private:
    struct Judged {
        OperatorLaws laws;
        std::uint64_t num_remembered = 0;  ///< prove::num_remembered() when they were last used
    };

    std::shared_ptr<const RecordStore> records();
    std::shared_ptr<Backend> running();
    /// The stages of a back end. A reproducible plan takes a GPU's stages, which a native back end runs too.
    [[nodiscard]] std::shared_ptr<const Catalogue> catalogue(const Backend& of,
                                                             bool is_reproducible = false) const;
    /// Returns the chooser of plans of an operator.
    Chooser chooser(const Operator& op, const PlanRequest& request, std::string without_records);

    std::atomic<bool> has_told_note_ = false;  ///< true once a fold has warned of the back end's note()
    SessionOptions options_;
    std::shared_ptr<const Catalogue> own_catalogue_;  ///< shared with plans; null without own kernels
    std::mutex mutex_;                                ///< guards the members below
    /// Locked during the back end's runs; plans share it.
    std::shared_ptr<std::mutex> run_mutex_ = std::make_shared<std::mutex>();
    std::shared_ptr<EmittedTexts> texts_ = std::make_shared<EmittedTexts>();  ///< plans share them
    std::shared_ptr<Backend> backend_;
    std::map<std::string, Judged> judged_;
    std::map<std::string, OperatorLaws> judged_for_scalars_;
    std::shared_ptr<const RecordStore> store_;
    std::atomic<std::uint64_t> num_forgotten_ = 0;         ///< calls of forget_records()
    std::list<std::shared_ptr<OperatorPlans>> operators_;  ///< the one used last in front
};

/// Throws InputError after the session was moved from.
[[nodiscard]] SessionCore& core(Session& session);

}  // namespace segfold
