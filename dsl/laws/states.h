#pragma once
// States for the search for counter-examples, made of drawn elements by lift and combine, so that each of
// them can occur.
#include <random>
#include <vector>

#include "dsl/array.h"
#include "dsl/evaluation/evaluator.h"
#include "dsl/laws/elements.h"

namespace segfold {

/// How a state is reached: its elements are lifted and combined from left to right.
using Recipe = std::vector<Element>;

/// Most elements of a drawn recipe.
inline constexpr std::size_t kMostDrawnElements = 4;

/// Where the first element of a case lies, and which values the scalars have there.
struct ElementPlace {
    std::int64_t index, position, segment;
    std::size_t setting = 0;  ///< number of the scalars' values, 0 where there are none
};

/// A bytecode with tables drawn for it, ready to run in both precisions.
class LawMachine {
public:
    /// Elements are drawn from `data` where it is given, which must outlive the machine. Scalars of which
    /// `scalars` says nothing have one value after the other.
    LawMachine(const Operator& op, std::mt19937_64& random, const DataRanges* data = nullptr,
               const ScalarValues* scalars = nullptr);
    /// With the tables and scalars of a fold, and elements that lie where begin_at() says.
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

    /// Makes the state of `recipe`, whose first element is element `start` of a case that begins at place
    /// number `place`; false if a table is read outside of its length.
    template <class Real>
    bool reach(const Recipe& recipe, std::size_t start, Slot<Real>* state, std::size_t place = 0);

    /// An element of a case as Evaluator::append takes it: columns, then index, position and segment.
    template <class Real>
    std::vector<Slot<Real>> element(const Element& values, std::size_t start, std::size_t place = 0) const;

    /// Whether each column tells where a table is read.
    [[nodiscard]] const std::vector<bool>& columns_of_places() const { return columns_of_places_; }

    /// Where cases begin: near the front, and where narrow conversions of large places wrap; then near the
    /// front once more for each set of scalars but the first. One alone where lift does not look at the place
    /// and there are no scalars.
    [[nodiscard]] const std::vector<ElementPlace>& places() const { return places_; }

    /// The numbers of places that differ in scalars alone; the first is 0.
    [[nodiscard]] const std::vector<std::size_t>& settings() const { return settings_; }

    /// Of given tables: the first element of a case is element `index` of the data, and of the only segment.
    void begin_at(std::int64_t index) { places_ = {{index, index, 0}}; }
    [[nodiscard]] bool has_given_tables() const { return has_given_tables_; }

    /// The scalars' values at a place, by name.
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
    std::vector<std::size_t> scalar_tables_;                ///< the tables that are scalars
    std::vector<std::vector<Slot<double>>> scalar_values_;  ///< [setting][scalar]
    std::size_t setting_ = 0;                               ///< that the tables hold
    std::vector<Array> tables_;
    Evaluator<double> working_;
    Evaluator<long double> wide_;
};

/// Draws `count` recipes, or fewer where a table cannot be read at most of the elements drawn: first single
/// elements of edge values, then other single ones, then longer recipes.
std::vector<Recipe> draw_recipes(LawMachine& machine, std::int64_t count, std::mt19937_64& random, Draw draw);

/// Single elements of columns that are alike, lowest or NaN in each of them, and `count` any ones. Fewer
/// where a table cannot be read at some.
std::vector<Recipe> draw_elements(LawMachine& machine, std::int64_t count, std::mt19937_64& random);

/// Draws `count` recipes of 16 to 1000 elements, or fewer: one element repeated, ascending ones, a few by
/// turns, and any. Their lengths are near powers of two and near the constants of the operator's text.
std::vector<Recipe> draw_long_recipes(LawMachine& machine, std::int64_t count, std::mt19937_64& random,
                                      Draw draw);

}  // namespace segfold
