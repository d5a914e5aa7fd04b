#pragma once
// Chooses the cases in which a law is tried: combinations of drawn recipes, in a fixed order.
#include "dsl/laws/judge.h"

namespace segfold {

/// A case of an equation, given by the numbers of its recipes and of the place at which it begins.
struct CaseNumbers {
    std::array<std::size_t, 3> recipes;
    std::size_t place = 0;
};

/// Drawn recipes (elements of states) and their states. Each state is computed at its first use.
class LawPool {
public:
    /// `long_recipes` are recipes of many elements; few cases use them.
    LawPool(const Operator& op, LawMachine& machine, std::vector<Recipe> recipes,
            std::vector<Recipe> long_recipes = {});

    [[nodiscard]] std::size_t size() const { return recipes_.size(); }

    /// Number of cases of `equation`, at most `most`.
    [[nodiscard]] std::int64_t num_cases(Equation equation, std::int64_t most) const;

    /// Returns case `number` of `equation`. First come all combinations of the first recipes, then drawn
    /// combinations.
    CaseNumbers choose(Equation equation, std::int64_t number, std::mt19937_64& random) const;

    /// Returns the states of a case in working precision. Returns none if a recipe reads outside of a table.
    std::optional<CaseStates<double>> states(Equation equation, const CaseNumbers& chosen);

    /// The recipes of a case.
    [[nodiscard]] LawCase recipes(Equation equation, const CaseNumbers& chosen) const;

private:
    enum class Made : std::uint8_t { no, yes, impossible };

    const Slot<double>* state(std::size_t number, std::size_t start, std::size_t place,
                              Slot<double>* scratch);

    LawMachine& machine_;
    std::vector<Recipe> recipes_;
    std::size_t num_short_;  ///< number of recipes with few elements, which come first
    bool by_place_;          ///< lift reads index or position, so states depend on their place
    /// Number of offsets in a case at which kept states may begin; 1 if states do not depend on their place.
    std::size_t num_starts_;
    std::vector<Made> made_;
    std::vector<Slot<double>> states_;   ///< [recipe][start][field], for cases that begin at places()[0]
    std::vector<Slot<double>> scratch_;  ///< fields of the states of the current case
    std::vector<Slot<double>> element_;  ///< the element that a case appends
};

}  // namespace segfold
