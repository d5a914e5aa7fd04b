#pragma once
// States for the search for counter-examples: elements are drawn, lifted and combined, so that all can occur.
#include <random>
#include <span>
#include <vector>

#include "dsl/array.h"
#include "dsl/evaluator.h"
#include "dsl/law_elements.h"

namespace segfold {

/// How a state is reached: its elements are lifted and combined from left to right.
using Recipe = std::vector<Element>;

/// Most elements of a drawn recipe.
inline constexpr std::size_t kMostDrawnElements = 4;

/// A bytecode with tables drawn for it, ready to run in both precisions.
class LawMachine {
public:
    LawMachine(const Operator& op, std::mt19937_64& random);
    LawMachine(const LawMachine&) = delete;
    LawMachine& operator=(const LawMachine&) = delete;

    [[nodiscard]] const Bytecode& bytecode() const { return bytecode_; }
    [[nodiscard]] std::size_t num_fields() const { return bytecode_.state.size(); }
    template <class Real>
    [[nodiscard]] Evaluator<Real>& evaluator()
    {
        if constexpr (sizeof(Real) == sizeof(double))
            return working_;
        else
            return wide_;
    }

    /// Makes the state of `recipe`, whose first element is element `start` of the segment; false if a table
    /// is read outside of its length.
    template <class Real>
    bool reach(const Recipe& recipe, std::size_t start, Slot<Real>* state);

private:
    Bytecode bytecode_;
    std::vector<Array> tables_;
    Evaluator<double> working_;
    Evaluator<long double> wide_;
};

/// Draws `count` recipes, or fewer where a table cannot be read at most of the elements drawn: first single
/// elements of edge values, then other single ones, then longer recipes.
std::vector<Recipe> draw_recipes(LawMachine& machine, std::int64_t count, std::mt19937_64& random, Draw draw);

}  // namespace segfold
