#pragma once
// Judges the outputs that a `map` gives each element.
#include "runtime/judge/compare.h"
#include "runtime/judge/tolerance.h"

namespace segfold {

/// Holds the right outputs of a workload whose operator has a `map`, and compares outputs with them.
///
/// Where nothing in the operator rounds, outputs must have the reference's bits. Else an output may differ
/// from the one in wide precision as far as that moves when its segment is folded in other orders, when
/// roundings are disturbed, and by a few units in the last place: Tolerance, for each element. A bound is
/// held against the largest value that the output has in the segment.
class MappedJudge {
public:
    /// Computes the reference. The workload must outlive the judge.
    MappedJudge(const Workload& workload, JudgeOptions options);

    /// The reference's outputs, rounded to their types.
    [[nodiscard]] Results reference() const;
    /// `outputs` are the last arrays of what a fold returned, one for each output. A segment counts as wrong
    /// where one of its elements is.
    [[nodiscard]] Comparison compare(const Results& outputs) const;
    /// Where bits are asked for: both must have the same.
    [[nodiscard]] Comparison compare_bits(const Results& outputs, const Results& others) const;
    [[nodiscard]] bool bit_for_bit() const { return bit_for_bit_; }

private:
    struct Found;
    struct Samples;

    void judge_segment(std::int64_t segment, const Results& outputs, Found& found) const;
    [[nodiscard]] Samples samples_of(std::int64_t segment) const;
    template <class Judge>
    [[nodiscard]] Comparison over_segments(const Judge& judge) const;

    const Workload& workload_;
    JudgeOptions options_;
    Bytecode bytecode_;
    OperatorInputs inputs_;
    bool bit_for_bit_;
    Results exact_;     ///< outputs, when bit for bit
    WideResults wide_;  ///< all results and outputs, when not
};

/// The outputs among what a fold returned, and the results before them; arrays are borrowed.
[[nodiscard]] Results outputs_of(const Operator& op, const Results& returned);
[[nodiscard]] Results segment_results_of(const Operator& op, const Results& returned);

}  // namespace segfold
