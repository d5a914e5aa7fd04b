#pragma once
// Judges the outputs that the `map` and `scan` of an operator compute for each element.
#include "runtime/judge/compare.h"
#include "runtime/judge/tolerance.h"

namespace segfold {

/// Holds the reference outputs of a workload, and compares outputs with them.
///
/// If nothing in the operator rounds, outputs must have the bits of the reference. Otherwise each element
/// gets a bound as in Tolerance. The bound is a few ulp, plus the change of the element's wide-precision
/// output when the segment is folded or scanned in other orders, or with random errors. An output cannot be
/// judged if its bound is large compared with the output's largest value in the segment.
class MappedJudge {
public:
    /// Computes the reference. The workload must outlive the judge.
    MappedJudge(const Workload& workload, JudgeOptions options);

    /// Returns the reference outputs, rounded to their types.
    [[nodiscard]] Results reference() const;
    /// Compares outputs with the reference. `outputs` has one array per output, as outputs_of() returns them.
    /// A segment is wrong if any of its elements is wrong.
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

/// A fold returns arrays of segment results, then arrays of outputs. outputs_of() returns the outputs,
/// segment_results_of() the results. The returned arrays refer to the memory of `returned`.
[[nodiscard]] Results outputs_of(const Operator& op, const Results& returned);
[[nodiscard]] Results segment_results_of(const Operator& op, const Results& returned);

}  // namespace segfold
