#pragma once
// Folds a slice on one device to a partial result.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
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
    /// Folds a workload. `text` is null if the back end runs no stages. One thread at a time may call it.
    std::function<Results(const Workload& workload, const Emitted* text, RunTimes& times)> run;
    bool runs_stages = true;
    Target target = {};
};

/// The problem that all slices of a fold share, on all devices.
struct SliceProblem {
    /// Chooses the plan for slices of a shape. Equal arguments must give equal plans.
    using Choose = std::function<PlanChoice(const Problem& problem, const Shape& shape)>;

    Operator op;  ///< an operator that has passed check()
    OperatorLaws laws;
    JoinOrder order = JoinOrder::as_cut;
    /// Names of the tables whose reads kernels must check.
    std::vector<std::string> checked_tables = {};
    Shape typical = {};  ///< the shape of a typical slice
    Choose choose = {};  ///< not called for a back end without stages
};

/// The results that a fold of a slice computes.
enum class SliceScope : std::uint8_t {
    everything,  ///< results of segments, the states of segments that the slice's ends cut, running results
    ends,        ///< only the states of segments that the slice's ends cut
};

/// Running results of consecutive elements.
struct ElementResults {
    /// Consecutive elements with results. `begin` and `end` are indices in the arrays of `results`.
    struct Span {
        std::int64_t begin = 0, end = 0;
    };

    std::int64_t first_element = 0;  ///< index of the first element in the whole input
    Results results = {};            ///< an array for each output
    std::vector<Span> spans = {};    ///< ranges of elements with results; others lie in no segment
};

/// Copies running results into the arrays `into`, in which entry 0 belongs to element `first_element` of the
/// input.
void store(const ElementResults& from, std::span<NamedArray> into, std::int64_t first_element = 0);

/// Joins running results into one array for each of `outputs`. The parts must cover the `num_elements`
/// elements from `first_element` on.
[[nodiscard]] Results joined(const std::vector<ResultField>& outputs, std::vector<ElementResults>&& parts,
                             std::int64_t first_element, std::int64_t num_elements);

/// One of the workloads that a back end runs to fold a slice.
struct PartRun {
    const PartOperator* part = nullptr;
    /// The workload's arrays borrow from the slice, except the tables that `part` adds.
    Workload workload;
    const PlanChoice* plan = nullptr;  ///< null for a back end without stages
};

/// A slice divided into runs.
struct PreparedSlice {
    const Slice* slice = nullptr;  ///< must outlive this object
    std::vector<PartRun> runs = {};
    bool has_inner = false;  ///< true if the first run folds the inner segments
    /// Pieces of segments, in the order of their states. With JoinOrder::as_cut each piece has its own run.
    /// With JoinOrder::blocks each piece is a segment of the last run, at most one block long.
    std::vector<SlicePiece> pieces = {};
    /// Index of the run whose scan continues from another slice; empty if there is none.
    std::optional<std::size_t> carried = {};
};

/// Folds slices of one problem on one device, in their order.
class SliceFolder {
public:
    /// `problem` must outlive this object.
    SliceFolder(const SliceProblem& problem, SliceDevice device, SliceScope scope = SliceScope::everything);

    /// Chooses the plans of all slices in advance. If `has_inner` is true, chooses the plan of inner segments
    /// of this form and index width. If `has_pieces` is true, chooses the plan of pieces. Returns no plan for
    /// a back end without stages.
    [[nodiscard]] std::vector<const PlanChoice*> plans_for(SegmentForm form, bool has_wide_indices,
                                                           bool has_inner, bool has_pieces);
    /// Divides a slice into runs and chooses their plans, without reading elements. Throws like
    /// SliceProblem::choose if no plan fits.
    [[nodiscard]] PreparedSlice prepare(const Slice& slice);
    /// Sets the state from which the scan of the slice continues. `state` covers the elements of the cut
    /// segment that were scanned before the slice; it is null if there are none. Without this call the scan
    /// begins anew.
    void carry(PreparedSlice& prepared, const Partial::Value* state) const;
    /// Makes the slice's partial from `given`, the results of its runs. The partial may borrow these results.
    /// Appends running results to `running`, in ascending order of elements unless segments are given by
    /// ranges.
    [[nodiscard]] Partial complete(const PreparedSlice& prepared, std::vector<Results> given,
                                   std::vector<ElementResults>* running = nullptr);
    /// Runs a slice and returns its partial. Passes on errors of the device, whose messages count elements
    /// from the slice's begin.
    [[nodiscard]] Partial fold(const PreparedSlice& prepared, RunTimes* times = nullptr,
                               std::vector<ElementResults>* running = nullptr);
    [[nodiscard]] Partial fold(const Slice& slice, RunTimes* times = nullptr)
    {
        return fold(prepare(slice), times);
    }

    /// Returns the plan of the inner segments; if there is none, the plan of pieces. Null if no plan was
    /// chosen.
    [[nodiscard]] const PlanChoice* plan() const;
    [[nodiscard]] const std::shared_ptr<const Joining>& joining() const { return joining_; }

private:
    const PlanChoice& plan_for(const Segments& segments, const PartOperator& part);
    void add_run(PreparedSlice& prepared, Workload&& workload, const PartOperator& part);
    void add_inner(PreparedSlice& prepared);
    void add_piece(PreparedSlice& prepared, const SlicePiece& piece);
    void add_blocks(PreparedSlice& prepared);
    void number_empties(const Slice& slice, Results& results);

    void take_running(const Slice& slice, const SlicePiece* piece, Results& given,
                      std::vector<ElementResults>* running) const;
    [[nodiscard]] bool scans() const { return problem_.op.scan && scope_ == SliceScope::everything; }

    const SliceProblem& problem_;
    SliceDevice device_;
    SliceScope scope_;
    PartOperator inner_, piece_;
    std::shared_ptr<const Joining> joining_;
    /// Plans by key; keys with "inner" come before keys with "piece".
    std::map<std::string, PlanChoice> plans_;
};

}  // namespace segfold
