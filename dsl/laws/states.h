#pragma once
// States for the search for counter-examples. Their elements are drawn, lifted and combined, so a fold can
// reach each of these states.
#include <random>
#include <vector>

#include "dsl/array.h"
#include "dsl/evaluation/evaluator.h"
#include "dsl/laws/elements.h"

namespace segfold {

/// The elements of a state (its recipe), which are lifted and combined from left to right.
using Recipe = std::vector<Element>;

/// Largest number of elements of a short recipe.
inline constexpr std::size_t kMostDrawnElements = 4;

/// The place of the first element of a case, and a set of scalar values.
struct ElementPlace {
    std::int64_t index, position, segment;
    std::size_t setting = 0;  ///< number of the set of scalar values; 0 if there are no scalars
};

/// An operator with drawn tables, ready to run in working and in wide precision.
class LawMachine {
public:
    /// Draws tables. If `data` is given, elements are drawn from its ranges; `data` must outlive the machine.
    /// A scalar without a value in `scalars` takes several values in turn.
    LawMachine(const Operator& op, std::mt19937_64& random, const DataRanges* data = nullptr,
               const ScalarValues* scalars = nullptr);
    /// Uses the tables and scalars of a fold. begin_at() then sets the place of the first element.
    LawMachine(const Operator& op, std::vector<Array> given_tables);
    LawMachine(const LawMachine&) = delete;
    LawMachine& operator=(const LawMachine&) = delete;

    [[nodiscard]] const Bytecode& bytecode() const { return bytecode_; }
    [[nodiscard]] const DataRanges* data() const { return data_; }
    [[nodiscard]] std::size_t num_fields() const { return bytecode_.state.size(); }
    template <class Real>
    [[nodiscard]] Evaluator<Real>& evaluator()
    {
        if constexpr (sizeof(Real) == sizeof(double))
            return working_;
        else
            return wide_;
    }

    /// Computes the state of `recipe`. The recipe's first element is element `start` of a case that begins at
    /// place number `place`. Returns false if the recipe reads outside of a table.
    template <class Real>
    bool reach(const Recipe& recipe, std::size_t start, Slot<Real>* state, std::size_t place = 0);

    /// Returns an element of a case in the form of Evaluator::append: columns, then index, position and
    /// segment.
    template <class Real>
    std::vector<Slot<Real>> element(const Element& values, std::size_t start, std::size_t place = 0) const;

    /// For each column: true if its values decide where tables are read.
    [[nodiscard]] const std::vector<bool>& columns_of_places() const { return columns_of_places_; }

    /// The places at which cases begin. The first is near the front of a segment. Then come places so large
    /// that they wrap in narrow conversions, and then the front again for each further set of scalar values.
    /// If lift ignores places and there are no scalars, there is one place.
    [[nodiscard]] const std::vector<ElementPlace>& places() const { return places_; }

    /// Indices in places() of the places at the front, one for each set of scalar values. The first is 0.
    [[nodiscard]] const std::vector<std::size_t>& settings() const { return settings_; }

    /// Makes the next case begin at element `index` of the data, which form one segment. Requires given
    /// tables.
    void begin_at(std::int64_t index) { places_ = {{index, index, 0}}; }
    [[nodiscard]] bool has_given_tables() const { return has_given_tables_; }

    /// Names and values of the scalars at a place.
    [[nodiscard]] std::vector<std::pair<std::string, FieldValue>> scalars(std::size_t place) const;

private:
    void add_settings(const ScalarValues* scalars);
    void set_scalars(std::size_t setting);

    Bytecode bytecode_;
    const DataRanges* data_;
    bool has_given_tables_ = false;
    std::vector<bool> columns_of_places_;
    std::vector<ElementPlace> places_;
    std::vector<std::size_t> settings_ = {0};
    std::vector<std::size_t> scalar_tables_;                ///< indices of the tables that are scalars
    std::vector<std::vector<Slot<double>>> scalar_values_;  ///< values by set, then by scalar
    std::size_t setting_ = 0;                               ///< the set of scalar values that the tables hold
    std::vector<Array> tables_;
    Evaluator<double> working_;
    Evaluator<long double> wide_;
};

/// Draws `count` recipes, or fewer if most drawn elements read outside of a table. First come single elements
/// of edge values, then other single elements, then recipes of several elements.
std::vector<Recipe> draw_recipes(LawMachine& machine, std::int64_t count, std::mt19937_64& random, Draw draw);

/// Draws single elements: all of ElementDrawer::alike(), then `count` elements of any(). Leaves out elements
/// that read outside of a table.
std::vector<Recipe> draw_elements(LawMachine& machine, std::int64_t count, std::mt19937_64& random);

/// Draws up to `count` recipes of 16 to 1000 elements: one repeated element, ascending elements, two
/// alternating elements, or simple ones. Lengths are near powers of two and near constants in the operator's
/// text.
std::vector<Recipe> draw_long_recipes(LawMachine& machine, std::int64_t count, std::mt19937_64& random,
                                      Draw draw);

}  // namespace segfold
