#pragma once
// The implementation of a session; internal. The program, the Python package and measurements use it.
#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "runtime/session/fold_run.h"
#include "runtime/session/kept/kept_plans.h"
#include "runtime/session/session.h"

namespace segfold {

struct NumberedKeys;

/// The back end, stages, judged laws, tuning records and kept plans of a session.
///
/// Each of them is set up on first use. Several threads may use the object; their runs take turns.
class SessionCore {
public:
    /// Throws InputError for options that exclude each other.
    explicit SessionCore(SessionOptions options);
    SessionCore(std::unique_ptr<Backend> backend, SessionOptions options);

    [[nodiscard]] Backend& backend() { return *running(); }
    /// The stages. The reference is valid as long as the session lives.
    [[nodiscard]] const Catalogue& catalogue() { return *catalogue(*running()); }

    /// Returns the laws of an operator for unknown data; see Session::laws(). If `proof` is not null, judges
    /// the laws again with these options.
    [[nodiscard]] OperatorLaws laws(const Operator& op, const ScalarValues& scalars = {},
                                    const prove::ProofOptions* proof = nullptr);
    /// Returns the laws on which a fold of this workload may rely. They hold for the workload's scalars, and
    /// its data do not refute them.
    [[nodiscard]] OperatorLaws laws(const Workload& workload);

    /// Chooses a plan for a workload.
    ///
    /// `is_once` is true for the first fold of an operator; see First. `without_records` is the reason not to
    /// use tuning records; if it is empty, records are used.
    [[nodiscard]] Chosen choose(const Workload& workload, const PlanRequest& request,
                                const std::string& without_records = "", bool is_once = false);
    /// Returns the problem of a workload on this session's back end.
    [[nodiscard]] Problem problem_of(const Workload& workload, const OperatorLaws& laws);
    /// Chooses a plan for data of which only the shape and the laws are known.
    [[nodiscard]] Chosen choose(const Problem& problem, const Shape& shape, const OperatorLaws& laws,
                                const PlanRequest& request, const std::string& without_records = "");
    /// Folds a workload by the text of a plan; `text` is null for a back end without stages. If `times` is
    /// not null, sets it to the times of the run.
    Results run(const Workload& workload, const Emitted* text, RunTimes* times = nullptr);

    /// Chooses a plan, runs it, and checks the results if `wishes.check` is true. `others` are sessions on
    /// other devices of the same back end; the devices share the slices. Throws like Session::fold().
    [[nodiscard]] FoldRun fold(const Workload& workload, const FoldWishes& wishes,
                               std::span<SessionCore* const> others = {});
    /// Folds the caller's arrays; see Session::fold().
    [[nodiscard]] Folded fold(const Operator& op, std::span<const ArrayView> inputs,
                              const SegmentsView& segments, const FoldOptions& options);
    /// Folds elements by groups, or by keys in any order. If takes_groups() is true, a kernel reads the
    /// elements unsorted. Otherwise folds copies that are sorted by group.
    [[nodiscard]] Folded fold_groups(const Operator& op, std::span<const ArrayView> inputs,
                                     const SegmentsView& segments, const FoldOptions& options);
    /// True if a kernel of the back end can fold unsorted elements by their group numbers. If `may_sort` is
    /// true, that kernel must also be expected to be faster than sorting. `segments` must have a number of
    /// groups. If `data` is null, the kernel must serve any data.
    [[nodiscard]] bool takes_groups(const Operator& op, const SegmentsView& segments,
                                    std::int64_t num_elements, const PlanRequest& request,
                                    const Workload* data = nullptr, bool may_sort = true);
    /// Numbers the keys of by(). Returns nothing for other segments, and if sorting by key is faster than
    /// numbering.
    [[nodiscard]] std::optional<NumberedKeys> numbered_keys(const Operator& op,
                                                            std::span<const ArrayView> inputs,
                                                            const SegmentsView& segments,
                                                            const PlanRequest& request);
    /// Folds groups by a kernel that takes unsorted elements. Returns nothing if there is no such kernel.
    /// `numbered` is the result of numbered_keys() if the segments come from by().
    [[nodiscard]] std::optional<Folded> fold_unsorted(const Operator& op, std::span<const ArrayView> inputs,
                                                      const SegmentsView& segments,
                                                      const std::optional<NumberedKeys>& numbered,
                                                      const FoldOptions& options);
    /// Folds a workload made of the caller's arrays. The result includes the plan and the findings of the
    /// check.
    [[nodiscard]] Folded fold_workload(const Operator& op, const Workload& workload,
                                       const SegmentsView& segments, const FoldOptions& options);
    /// Folds the caller's arrays without a kept plan. Judges the laws on these data and chooses a plan for
    /// them.
    [[nodiscard]] Folded fold_anew(const Operator& op, std::span<const ArrayView> inputs,
                                   const SegmentsView& segments, const FoldOptions& options);
    /// Folds by a kept plan. Returns nothing if no plan can be kept, or if the arrays are invalid;
    /// fold_anew() then reports the error.
    [[nodiscard]] std::optional<Folded> fold_by_kept_plan(const Operator& op,
                                                          std::span<const ArrayView> inputs,
                                                          const SegmentsView& segments,
                                                          const FoldOptions& options);

    [[nodiscard]] Plan plan(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                            const PlanOptions& options);
    /// Returns the kept plans of an operator. All callers of the session share them.
    [[nodiscard]] std::shared_ptr<OperatorPlans> plans_of(const Operator& op);
    /// Returns a kept plan for a fold on the host, or makes a plan and keeps it. Replaces flags or keys in
    /// `fold` by offsets. Calls `run` for slow work.
    ///
    /// Returns no plan if none can be kept, or if the laws depend on the data, which only fold_anew() reads.
    [[nodiscard]] PlannedFold plan_for(const std::shared_ptr<Fold>& fold, const Runner& run);

    void forget_records();
    /// Returns the number of changes to tuning records and to known laws. Kept plans are out of date after a
    /// change, because the session might now choose other plans.
    [[nodiscard]] std::uint64_t num_findings() const;

private:
    struct Judged {
        OperatorLaws laws;
        std::uint64_t num_remembered = 0;  ///< prove::num_remembered() at the last use
    };

    std::shared_ptr<const RecordStore> records();
    /// Returns the spot records (see choice/spot.h). They are read together with records().
    std::shared_ptr<SpotRecords> spots();
    /// Measures the best-ranked stages on a workload, and returns the results of the fastest stage. fold()
    /// calls it if there are no slices and no check.
    FoldRun fold_measured(const Workload& workload, const FoldWishes& wishes);
    std::shared_ptr<Backend> running();
    /// Returns the stages of a back end. Reproducible plans use the GPU stages even on a native back end.
    [[nodiscard]] std::shared_ptr<const Catalogue> catalogue(const Backend& of,
                                                             bool is_reproducible = false) const;
    [[nodiscard]] bool is_first_fold_of(const Operator& op);
    /// Returns a chooser of plans for an operator.
    Chooser chooser(const Operator& op, const PlanRequest& request, std::string without_records);

    std::atomic<bool> has_told_note_ = false;  ///< true once a fold has warned of the back end's note()
    SessionOptions options_;
    /// Stages of SessionOptions::kernels; null if it is empty.
    std::shared_ptr<const Catalogue> own_catalogue_;
    std::mutex mutex_;  ///< guards the members below
    /// Locked during the back end's runs; plans share it.
    std::shared_ptr<std::mutex> run_mutex_ = std::make_shared<std::mutex>();
    std::shared_ptr<EmittedTexts> texts_ = std::make_shared<EmittedTexts>();  ///< shared with plans
    std::shared_ptr<Backend> backend_;
    std::map<Digest, Judged> judged_;
    std::map<std::pair<Digest, std::string>, OperatorLaws> judged_for_scalars_;  ///< by operator and scalars
    std::set<Digest> folded_;  ///< operators that fold() has folded
    std::shared_ptr<const RecordStore> store_;
    std::shared_ptr<SpotRecords> spots_;
    std::atomic<std::uint64_t> num_forgotten_ = 0;         ///< number of calls of forget_records()
    std::list<std::shared_ptr<OperatorPlans>> operators_;  ///< the most recently used operator comes first
};

/// Throws InputError after the session was moved from.
[[nodiscard]] SessionCore& core(Session& session);

}  // namespace segfold
