#pragma once
// Which cases of a law are tried: drawn recipes with their states, and the order in which they are put
// together.
#include "dsl/laws/judge.h"

namespace segfold {

/// A case of an equation: numbers of recipes, and of the place where they begin.
struct CaseNumbers {
    std::array<std::size_t, 3> recipes;
    std::size_t place = 0;
};

/// Drawn recipes and their states, which are made when first asked for.
class LawPool {
public:
    /// `long_recipes` have many elements, and few cases take them.
    LawPool(const Operator& op, LawMachine& machine, std::vector<Recipe> recipes,
            std::vector<Recipe> long_recipes = {});

    [[nodiscard]] std::size_t size() const { return recipes_.size(); }

    /// Cases that there are of `equation`, `most` at most.
    [[nodiscard]] std::int64_t num_cases(Equation equation, std::int64_t most) const;

    /// Case `number` of `equation`: first all combinations of the simple recipes, then drawn ones.
    CaseNumbers choose(Equation equation, std::int64_t number, std::mt19937_64& random) const;

    /// The states of a case, in working precision; nothing if one cannot be lifted at its place.
    std::optional<CaseStates<double>> states(Equation equation, const CaseNumbers& chosen);

    /// The recipes of a case.
    [[nodiscard]] LawCase recipes(Equation equation, const CaseNumbers& chosen) const;

private:
    enum class Made : std::uint8_t { no, yes, impossible };

    const Slot<double>* state(std::size_t number, std::size_t start, std::size_t place,
                              Slot<double>* scratch);

    LawMachine& machine_;
    std::vector<Recipe> recipes_;
    std::size_t num_short_;  ///< recipes before the long ones
    bool by_place_;  ///< lift looks at the element's place, so that a state depends on where it begins
    std::size_t num_starts_;  ///< 1, or the places at which a state of a case can begin
    std::vector<Made> made_;
    std::vector<Slot<double>> states_;   ///< [recipe][start][field], of cases at the first place
    std::vector<Slot<double>> scratch_;  ///< [state of the case][field]
    std::vector<Slot<double>> element_;  ///< that a case appends
};

}  // namespace segfold
