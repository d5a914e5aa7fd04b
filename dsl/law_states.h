#pragma once
// States for the search for counter-examples: drawn elements, lifted and combined, so that every state can occur.
#include <random>
#include <span>
#include <vector>

#include "dsl/array.h"
#include "dsl/evaluator.h"

namespace segfold {

/// A value for every column.
using Element = std::vector<Slot<double>>;

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

    /// Makes the state of `recipe`, whose first element is element `start` of the segment; false if a table is read
    /// outside of its length.
    template <class Real>
    bool reach(const Recipe& recipe, std::size_t start, Slot<Real>* state);

private:
    Bytecode bytecode_;
    std::vector<Array> tables_;
    Evaluator<double> working_;
    Evaluator<long double> wide_;
};

/// The values where operators break, simplest first: small numbers, the ends of the type, infinities, NaN, denormals.
std::vector<Slot<double>> edge_values(Type type);

/// As many single elements of edge values as there are cheap combinations of, then others and longer recipes;
/// `count` in all, or fewer where a table cannot be read at most of the elements drawn.
std::vector<Recipe> draw_recipes(LawMachine& machine, std::size_t count, std::mt19937_64& random);

/// How many of the first recipes hold a single simple element.
inline constexpr std::size_t kSimpleRecipes = 12;

/// The ends of a type: for a bool 0 and 1.
std::uint64_t lowest_integer(Type type);
std::uint64_t highest_integer(Type type);
double highest_float(Type type);

}  // namespace segfold
