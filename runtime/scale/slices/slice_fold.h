#pragma once
// One slice folded on one device: the results inside it, and what it leaves open at its borders.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/backends/timing.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/scale/slices/slice.h"
#include "runtime/scale/slices/slice_operators.h"
#include "runtime/scale/slices/state_run.h"
#include "runtime/session/choice/choice.h"
#include "runtime/support/run_times.h"

namespace segfold {

/// What a slice knows of the segments that its borders cut.
struct Border {
    bool has_head = false;      ///< a segment that began earlier ends here
    bool has_tail = false;      ///< a segment goes on in the next slice
    bool tail_goes_on = false;  ///< and it began in an earlier slice: all elements are of this segment
    bool has_inner = false;     ///< segments lie inside
    std::int64_t head_segment = 0;
    std::int64_t head_items = 0, tail_items = 0;
    StateRun head, tail;
};

/// The border of a slice with such pieces, whose states are to be added.
[[nodiscard]] Border border_without_states(const std::optional<Piece>& head, const std::optional<Piece>& tail,
                                           bool has_inner, std::size_t state_fields,
                                           JoinOrder order = JoinOrder::as_cut);

/// A slice's results.
struct SliceResults {
    Results inner;  ///< of the segments from `first_inner` on; no arrays where there are none
    std::int64_t first_inner = 0;
    std::int64_t num_inner = 0;
    Border border;
};

/// What folds slices: a back end, as far as they are concerned.
struct SliceDevice {
    /// `plan` is null where it runs no stages. Called by one thread at a time.
    std::function<Results(const Workload& workload, const PlanText* plan, RunTimes& times)> run;
    bool runs_stages = true;
    Target target = {};
};

/// What all slices of a fold share, whatever devices they run on.
struct SliceProblem {
    /// Plans a problem for a typical slice. Must give the same plan for the same arguments.
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
    /// With JoinOrder::blocks, of the last run: segment s is a block of segment `segments[s]` of the input.
    std::vector<std::int64_t> segments = {}, positions = {}, lengths = {};
};

/// Folds slices of one problem on one device, one after the other.
class SliceFolder {
public:
    /// `problem` must outlive it.
    SliceFolder(const SliceProblem& problem, SliceDevice device);

    /// The plans of slices whose inner segments have such a form and width, chosen now: of the segments
    /// inside where `has_inner`, of pieces where `has_pieces`. None for a back end without stages.
    [[nodiscard]] std::vector<const PlanChoice*> plans_for(SegmentForm form, bool has_wide_indices,
                                                           bool has_inner, bool has_pieces);
    /// What has to run, which does not look at the elements; `complete` makes results of what the runs gave.
    /// Throws what choosing a plan throws, which concerns the whole fold.
    [[nodiscard]] PreparedSlice prepare(const Slice& slice);
    [[nodiscard]] SliceResults complete(const PreparedSlice& prepared, std::vector<Results> given);
    /// Throws what the device's run throws; the place of an element that reads a table outside is counted in
    /// the slice.
    [[nodiscard]] SliceResults fold(const PreparedSlice& prepared, RunTimes* times = nullptr);
    [[nodiscard]] SliceResults fold(const Slice& slice, RunTimes* times = nullptr)
    {
        return fold(prepare(slice), times);
    }

    /// The plan of the segments inside, else that of pieces; null where none has run.
    [[nodiscard]] const PlanChoice* plan() const;

private:
    const PlanChoice& plan_for(const Segments& segments, const PartOperator& part);
    void add_run(PreparedSlice& prepared, Workload&& workload, const PartOperator& part);
    void add_inner(PreparedSlice& prepared);
    void add_piece(PreparedSlice& prepared, const Piece& piece);
    void add_blocks(PreparedSlice& prepared);
    void number_empties(const Slice& slice, Results& results);
    void join_blocks(const PreparedSlice& prepared, const Results& states, SliceResults& into);

    const SliceProblem& problem_;
    SliceDevice device_;
    PartOperator inner_, piece_;
    Bytecode bytecode_;
    std::map<std::string, PlanChoice> plans_;  ///< "inner" before "piece"
};

}  // namespace segfold
