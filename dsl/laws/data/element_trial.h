#pragma once
// Tries laws on the elements of a fold's own arrays instead of drawn elements.
#include "dsl/laws/judge.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// Outcome of trying a law on given elements.
struct TriedElements {
    std::int64_t tried = 0;  ///< number of elements tried; for rows, each feature counts
    std::optional<CounterExample> counter_example;
};

/// Selects the elements of a trial.
enum class Elements : std::uint8_t {
    all,
    finite,  ///< finite elements whose state is finite too
    /// All elements. A finite state that the identity makes infinite or NaN counts as a difference, too.
    all_with_overflow,
};

/// An operator with its arrays, ready for trials of laws on their elements.
///
/// Laws hold for all states, so the segments of the fold do not matter. All elements form one segment, and an
/// element's position is its index. Both sides may differ by rounding, as in check_laws().
class ElementTrial {
public:
    /// `arrays` holds one array for each parameter, and must outlive the trial. Columns of rows have the
    /// shape [num_elements, num_features] in C order.
    ElementTrial(const Operator& op, const std::vector<Array>& arrays, std::int64_t num_elements,
                 std::int64_t num_features = 1);

    /// False if the arrays do not fit the operator, or if a table holds rows. Trials then do nothing.
    [[nodiscard]] bool is_possible() const { return is_possible_; }

    /// Number of elements times features. Element number = index * num_features + feature.
    [[nodiscard]] std::int64_t size() const { return is_possible_ ? num_elements_ * num_features_ : 0; }

    /// Tries associativity on up to `most` triples of neighbours, spread evenly over the array. Returns the
    /// first counter-example, or none. Takes microseconds.
    std::optional<CounterExample> try_neighbours(std::int64_t most);

    /// Tries the identity on every `step`-th element from `begin` to `end` - 1 that `elements` selects. Stops
    /// at the first counter-example.
    TriedElements try_identity(std::int64_t begin, std::int64_t end, std::int64_t step, Elements elements);

private:
    /// Loads the values of an element, one for each column.
    void load(std::int64_t index, std::int64_t feature, Element& values) const;
    /// Returns false if the element reads past a table's end.
    bool lift(std::int64_t index, std::int64_t feature, Slot<double>* state);
    [[nodiscard]] bool is_finite(std::int64_t number) const;
    [[nodiscard]] bool is_finite(const std::vector<Slot<double>>& state) const;
    /// Returns a counter-example if the elements break the equation. Called if compare() could not decide. If
    /// `breaks_it` is true, the caller knows that they break it.
    std::optional<CounterExample> confirm(Equation equation, std::int64_t index, std::int64_t feature,
                                          bool breaks_it = false);

    const Operator& op_;
    const std::vector<Array>& arrays_;
    std::int64_t num_elements_, num_features_;
    bool is_possible_;
    LawMachine machine_;
    LawJudge judge_;
    std::vector<std::size_t> columns_;  ///< indices of the parameters that are columns
    Element values_;                    ///< values of the element being lifted
    std::array<std::vector<Slot<double>>, 3> states_;
    std::int64_t num_doubtful_ = 0;
};

}  // namespace segfold
