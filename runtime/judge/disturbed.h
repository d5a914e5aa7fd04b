#pragma once
// Runs an operator in wide precision, and replaces each rounding by a small random error. The larger the
// change of the results, the less the data determine them.
#include <cstdint>
#include <vector>

#include "dsl/evaluation/bytecode.h"
#include "runtime/judge/reference.h"

namespace segfold {

/// Runs an operator's parts in long double. Wherever working precision would round, adds a random error of
/// about the unit roundoff of the value's type.
///
/// A value gets no error if its type could represent it with a significand four bits shorter, so sums of
/// small integers stay exact. Functions that CUDA computes to within 2 ulp (exp, sin, pow, ...) get an error
/// four times as large. The errors depend only on the seed and on the position in the fold.
///
/// Source: Monte Carlo arithmetic, Parker 1997. Unlike there, the errors are near full size and have random
/// signs.
class DisturbedEvaluator {
public:
    using Value = WideValue;

    /// Bytecode and inputs must outlive the evaluator.
    DisturbedEvaluator(const Bytecode& bytecode, const OperatorInputs& inputs, std::uint64_t seed);

    [[nodiscard]] std::size_t state_fields() const { return bytecode_->state.size(); }

    void lift(std::int64_t index, std::int64_t position, std::int64_t segment, Value* state);
    /// `node` must differ for each combination of a fold. `out` may be one of the operands.
    void combine(const Value* earlier, const Value* later, std::int64_t node, Value* out);
    void finish(const Value* state, std::int64_t segment, std::int64_t length, Value* result);
    void empty(std::int64_t segment, Value* result);
    void map(std::int64_t index, std::int64_t position, std::int64_t segment, std::int64_t length,
             const Value* result, Value* out);
    /// For map() and scan(), `out` has room for all outputs. Only the outputs that the part sets are written.
    void scan(std::int64_t index, std::int64_t position, std::int64_t segment, const Value* before,
              const Value* through, Value* out);

private:
    /// A program, its slots, and the largest relative error of each instruction.
    struct Frame {
        const Program* program;
        std::vector<Value> slots;
        std::vector<long double> movements;
    };

    static Frame make_frame(const Program& program);
    void run(Frame& frame, std::uint64_t lot, Value* out);
    void run(Frame& frame, std::uint64_t lot, const std::vector<std::size_t>& places, Value* out);

    const Bytecode* bytecode_;
    const OperatorInputs* inputs_;
    std::uint64_t seed_;
    Frame lift_, combine_, finish_, empty_, map_, scan_;
    std::vector<Value> values_;  ///< values of the outputs that a part sets
};

/// Returns the value of `type` nearest to `value`. If `type` is not floating-point, returns `value`.
[[nodiscard]] long double round_to(Type type, long double value);

/// Returns half the distance from 1 to the next value of a floating-point type.
[[nodiscard]] long double unit_roundoff(Type type);

}  // namespace segfold
