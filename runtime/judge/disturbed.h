#pragma once
// Runs an operator in wide precision with a small random error in place of each rounding. The distance by
// which these errors move the results shows how well the data determine the results.
#include <cstdint>
#include <vector>

#include "dsl/evaluation/bytecode.h"
#include "runtime/judge/reference.h"

namespace segfold {

/// Runs an operator's parts in long double. Where working precision would round, it moves the value by about
/// the unit roundoff of its type, up or down at random.
///
/// A value is not moved if its type could hold it with four bits less, so sums of small integers stay exact.
/// Functions that CUDA computes to within two units in the last place (exp, sin, pow, ...) are moved four
/// times as far. The random errors depend only on the seed and on the place in the fold.
///
/// Source: Monte Carlo arithmetic, Parker 1997, but with errors near full size and random signs.
class DisturbedEvaluator {
public:
    using Value = WideValue;

    /// Bytecode and inputs must outlive the evaluator.
    DisturbedEvaluator(const Bytecode& bytecode, const OperatorInputs& inputs, std::uint64_t seed);

    [[nodiscard]] std::size_t state_fields() const { return bytecode_->state.size(); }

    void lift(std::int64_t index, std::int64_t position, std::int64_t segment, Value* state);
    /// `node` differs for each combination of a fold. `out` may be one of the operands.
    void combine(const Value* earlier, const Value* later, std::int64_t node, Value* out);
    void finish(const Value* state, std::int64_t segment, std::int64_t length, Value* result);
    void empty(std::int64_t segment, Value* result);
    void map(std::int64_t index, std::int64_t position, std::int64_t segment, std::int64_t length,
             const Value* result, Value* out);
    /// `out` of map() and scan() has room for all outputs and receives the outputs that the part sets.
    void scan(std::int64_t index, std::int64_t position, std::int64_t segment, const Value* before,
              const Value* through, Value* out);

private:
    /// A program, its slots, and the relative distance by which each instruction's value is moved.
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
    std::vector<Value> values_;  ///< values of the outputs of a part
};

/// Returns the value of `type` nearest to `value`. If `type` is not floating-point, returns `value`.
[[nodiscard]] long double round_to(Type type, long double value);

/// Returns half the distance from 1 to the next value of a floating-point type.
[[nodiscard]] long double unit_roundoff(Type type);

}  // namespace segfold
