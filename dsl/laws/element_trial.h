#pragma once
// Laws tried on the elements of arrays that a fold is given, instead of on drawn ones.
#include "dsl/laws/judge.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// An operator with its arrays, ready to try laws on their elements as they lie in one segment.
///
/// A law is about all states, so that segments do not matter: an element's position is its index. What counts
/// as a difference is what counts in check_laws().
class ElementTrial {
public:
    /// `arrays` are one for each parameter and outlive the trial. Columns of rows are [num_elements,
    /// num_features], in C order.
    ElementTrial(const Operator& op, const std::vector<Array>& arrays, std::int64_t num_elements,
                 std::int64_t num_features = 1);

    /// False where the arrays are not those of the operator, and where a table holds rows; then nothing is
    /// tried.
    [[nodiscard]] bool is_possible() const { return is_possible_; }

    /// Tries associativity on `most` triples of neighbours, one from each of as many parts of the array.
    /// Gives the first that breaks it. Takes microseconds.
    std::optional<CounterExample> try_neighbours(std::int64_t most);

private:
    [[nodiscard]] Element element(std::int64_t index, std::int64_t feature) const;
    /// False where a table is read outside of its length.
    bool lift(std::int64_t index, std::int64_t feature, Slot<double>* state);
    /// The counter-example of elements that compare() calls doubtful, if they break the equation.
    std::optional<CounterExample> confirm(Equation equation, std::int64_t index, std::int64_t feature);

    const Operator& op_;
    const std::vector<Array>& arrays_;
    std::int64_t num_elements_, num_features_;
    bool is_possible_;
    LawMachine machine_;
    LawJudge judge_;
    std::vector<std::size_t> columns_;  ///< numbers of the parameters that are columns
    std::vector<Slot<double>> values_;  ///< of an element
    std::array<std::vector<Slot<double>>, 3> states_;
    std::int64_t num_doubtful_ = 0;
};

}  // namespace segfold
