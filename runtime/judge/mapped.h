#pragma once
// Judges the outputs that an operator's `map` and `scan` compute for each element.
#include "runtime/judge/compare.h"
#include "runtime/judge/tolerance.h"

namespace segfold {

/// Holds the reference outputs of a workload, and compares outputs with them.
///
/// If nothing in the operator rounds, outputs must have the reference's bits. Otherwise each element gets a
/// bound as in Tolerance: a few units in the last place, plus the distance by which its wide-precision output
/// moves when the segment is folded or scanned in other orders or roundings are disturbed. A bound is too
/// wide to judge by if it is large beside the output's largest value in the segment.
class MappedJudge {
public:
    /// Computes the reference. The workload must outlive the judge.
    MappedJudge(const Workload& workload, JudgeOptions options);

    /// Returns the reference's outputs, rounded to their types.
    [[nodiscard]] Results reference() const;
    /// Compares outputs with the reference. `outputs` has one array for each output, as outputs_of() returns
    /// them. A segment is wrong if one of its elements is wrong.
    [[nodiscard]] Comparison compare(const Results& outputs) const;
    /// Compares two sets of outputs bit for bit.
    [[nodiscard]] Comparison compare_bits(const Results& outputs, const Results& others) const;
    [[nodiscard]] bool bit_for_bit() const { return bit_for_bit_; }

private:
    struct Found;
    class Again;

    void judge_segment(std::int64_t segment, const Results& outputs, Found& found) const;
    template <class Judge>
    [[nodiscard]] Comparison over_segments(const Judge& judge) const;

    const Workload& workload_;
    JudgeOptions options_;
    Bytecode bytecode_;
    OperatorInputs inputs_;
    bool bit_for_bit_;
    Results exact_;     ///< outputs; set if they are compared bit for bit
    WideResults wide_;  ///< all results and outputs; set if they are compared within bounds
};

/// Returns the outputs among the arrays that a fold returned. segment_results_of() returns the results, which
/// come before the outputs. Arrays are borrowed.
[[nodiscard]] Results outputs_of(const Operator& op, const Results& returned);
[[nodiscard]] Results segment_results_of(const Operator& op, const Results& returned);

}  // namespace segfold
