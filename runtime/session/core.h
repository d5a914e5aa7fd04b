#pragma once
// A session from inside: what the program, Python and the rooms that measure ask of it; internal.
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

/// The back end, the stages, the laws that were judged, the tuning records and the kept plans of a session.
///
/// All are set up on first use. Several threads may use it; runs take turns.
class SessionCore {
public:
    /// Throws InputError for options that exclude each other.
    explicit SessionCore(SessionOptions options);
    SessionCore(std::unique_ptr<Backend> backend, SessionOptions options);

    [[nodiscard]] Backend& backend() { return *running(); }
    /// Of the stages, for as long as the session lives.
    [[nodiscard]] const Catalogue& catalogue() { return *catalogue(*running()); }

    /// The laws of an operator as far as no data speak; see Session::laws(). `proof` judges them anew.
    [[nodiscard]] OperatorLaws laws(const Operator& op, const ScalarValues& scalars = {},
                                    const prove::ProofOptions* proof = nullptr);
    /// What a fold of a workload relies on: the laws for its scalars, as far as its data do not refute them.
    [[nodiscard]] OperatorLaws laws(const Workload& workload);

    /// Chooses for a workload. `without_records` says why no record is asked; empty: they are.
    [[nodiscard]] Chosen choose(const Workload& workload, const PlanRequest& request,
                                const std::string& without_records = "");
    /// Chooses for a problem whose data are known by their shape and by what they say of the laws.
    [[nodiscard]] Chosen choose(const Problem& problem, const Shape& shape, const OperatorLaws& laws,
                                const PlanRequest& request, const std::string& without_records = "");
    /// Runs a text; `plan` is null for a back end without stages. `times`, where given, receives the times of
    /// the parts.
    Results run(const Workload& workload, const PlanText* plan, RunTimes* times = nullptr);

    /// Folds a workload: chooses, runs, and checks where that is asked for. `others` are sessions on other
    /// devices of the same back end, which share the slices. Throws as Session::fold() does.
    [[nodiscard]] FoldRun fold(const Workload& workload, const FoldWishes& wishes,
                               std::span<SessionCore* const> others = {});
    /// A fold of the caller's arrays by no kept plan: what is right for these data is found out anew.
    [[nodiscard]] Folded fold_anew(const Operator& op, std::span<const ArrayView> inputs,
                                   const SegmentsView& segments, const FoldOptions& options);
    /// By a kept plan; nothing where there is none, and for wrong arrays, of which fold_anew() says what is
    /// wrong.
    [[nodiscard]] std::optional<Folded> fold_by_kept_plan(const Operator& op,
                                                          std::span<const ArrayView> inputs,
                                                          const SegmentsView& segments,
                                                          const FoldOptions& options);

    [[nodiscard]] Plan plan(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                            const PlanOptions& options);
    /// The plans of an operator that the session keeps for all callers.
    [[nodiscard]] std::shared_ptr<OperatorPlans> plans_of(const Operator& op);
    /// The plan of a fold on the host, kept from an earlier one or made. None where no plan can be kept, and
    /// where only fold_anew(), which looks at the data, knows what it may rely on. Goes on with the offsets
    /// of segments by flags or keys. `run` does what takes long.
    [[nodiscard]] PlannedFold plan_for(const std::shared_ptr<Fold>& fold, const Runner& run);

    void forget_records();
    /// How often tuning records or what is known of laws have changed: plans that were kept from before may
    /// no longer be what the session would choose.
    [[nodiscard]] std::uint64_t num_findings() const;

private:
    struct Judged {
        OperatorLaws laws;
        std::uint64_t num_remembered = 0;  ///< of the process, when they were judged or looked at last
    };

    std::shared_ptr<const RecordStore> records();
    std::shared_ptr<Backend> running();
    /// The stages that `backend` runs; for a reproducible plan those of a GPU, which a native one runs too.
    [[nodiscard]] std::shared_ptr<const Catalogue> catalogue(const Backend& of,
                                                             bool is_reproducible = false) const;
    /// Whom plans of an operator are chosen by.
    Chooser chooser(const Operator& op, const PlanRequest& request, std::string without_records);

    std::atomic<bool> has_told_note_ = false;  ///< what the back end's note() says
    SessionOptions options_;
    std::shared_ptr<const Catalogue> own_catalogue_;  ///< plans hold it, too; null without a folder
    std::mutex mutex_;                                ///< of what follows
    /// Of the back end's runs; plans hold it too.
    std::shared_ptr<std::mutex> run_mutex_ = std::make_shared<std::mutex>();
    std::shared_ptr<EmittedTexts> texts_ = std::make_shared<EmittedTexts>();  ///< plans ask them, too
    std::shared_ptr<Backend> backend_;
    std::map<std::string, Judged> judged_;
    std::map<std::string, OperatorLaws> judged_for_scalars_;
    std::shared_ptr<const RecordStore> store_;
    std::atomic<std::uint64_t> num_forgotten_ = 0;         ///< records that a tuning has made old
    std::list<std::shared_ptr<OperatorPlans>> operators_;  ///< the one used last in front
};

/// Throws InputError after the session was moved from.
[[nodiscard]] SessionCore& core(Session& session);

}  // namespace segfold
