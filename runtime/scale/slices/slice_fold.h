#pragma once
// One slice folded on one device, to a partial result.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backends/timing.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/scale/partial.h"
#include "runtime/scale/slices/slice.h"
#include "runtime/scale/slices/slice_operators.h"
#include "runtime/session/choice/choice.h"
#include "runtime/support/run_times.h"

namespace segfold {

/// A back end that folds slices.
struct SliceDevice {
    /// `plan` is null if the back end runs no stages. One thread at a time calls it.
    std::function<Results(const Workload& workload, const PlanText* plan, RunTimes& times)> run;
    bool runs_stages = true;
    Target target = {};
};

/// The problem that all slices of a fold share, on all devices.
struct SliceProblem {
    /// Chooses the plan for a slice of some shape; the same plan for the same arguments.
    using Choose = std::function<PlanChoice(const Problem& problem, const Shape& shape)>;

    Operator op;  ///< checked
    OperatorLaws laws;
    JoinOrder order = JoinOrder::as_cut;
    std::vector<std::string> checked_tables =
        {};              ///< those of the operator that some slice may read outside of
    Shape typical = {};  ///< of a slice
    Choose choose = {};  ///< not asked where no stages run
};

/// One run of a back end that folding a slice needs.
struct PartRun {
    const PartOperator* part = nullptr;
    Workload workload;                 ///< arrays are borrowed from the slice, but for those that `part` adds
    const PlanChoice* plan = nullptr;  ///< null for a back end without stages
};

/// A slice taken apart into runs.
struct PreparedSlice {
    const Slice* slice = nullptr;  ///< must outlive it
    std::vector<PartRun> runs = {};
    bool has_inner = false;  ///< the first run is of the segments inside
    /// Parts of segments, in the order of their states: each is a run of its own; with JoinOrder::blocks each
    /// is one segment of the last run, and at most a block long.
    std::vector<SlicePiece> pieces = {};
};

/// Folds slices of one problem on one device, one after the other.
class SliceFolder {
public:
    /// `problem` must outlive it.
    SliceFolder(const SliceProblem& problem, SliceDevice device);

    /// Chooses the plans of slices now: of segments inside, which have this form and width, if `has_inner`,
    /// and of pieces if `has_pieces`. None for a back end without stages.
    [[nodiscard]] std::vector<const PlanChoice*> plans_for(SegmentForm form, bool has_wide_indices,
                                                           bool has_inner, bool has_pieces);
    /// Chooses the runs, without a look at the elements. Throws what choosing a plan throws, which concerns
    /// the whole fold.
    [[nodiscard]] PreparedSlice prepare(const Slice& slice);
    /// The slice's partial, of the results of its runs; it may borrow them.
    [[nodiscard]] Partial complete(const PreparedSlice& prepared, std::vector<Results> given);
    /// Throws what the device throws. Its message counts elements from the slice's begin.
    [[nodiscard]] Partial fold(const PreparedSlice& prepared, RunTimes* times = nullptr);
    [[nodiscard]] Partial fold(const Slice& slice, RunTimes* times = nullptr)
    {
        return fold(prepare(slice), times);
    }

    /// The plan of the segments inside, else that of pieces; null if none has run.
    [[nodiscard]] const PlanChoice* plan() const;
    [[nodiscard]] const std::shared_ptr<const Joining>& joining() const { return joining_; }

private:
    const PlanChoice& plan_for(const Segments& segments, const PartOperator& part);
    void add_run(PreparedSlice& prepared, Workload&& workload, const PartOperator& part);
    void add_inner(PreparedSlice& prepared);
    void add_piece(PreparedSlice& prepared, const SlicePiece& piece);
    void add_blocks(PreparedSlice& prepared);
    void number_empties(const Slice& slice, Results& results);

    const SliceProblem& problem_;
    SliceDevice device_;
    PartOperator inner_, piece_;
    std::shared_ptr<const Joining> joining_;
    std::map<std::string, PlanChoice> plans_;  ///< "inner" before "piece"
};

}  // namespace segfold
