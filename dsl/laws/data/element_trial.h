#pragma once
// Laws tried on the elements of arrays that a fold is given, instead of on drawn ones.
#include "dsl/laws/judge.h"
#include "dsl/laws/laws.h"

namespace segfold {

/// Outcome of a trial of a law on given elements.
struct TriedElements {
    std::int64_t tried = 0;  ///< elements; of rows, numbers of them
    std::optional<CounterExample> counter_example;
};

/// Which elements count.
enum class Elements : std::uint8_t {
    all,
    finite,  ///< elements of finite values whose state is finite too
    /// All; besides differences that count in check_laws() those count that come of overflow: a finite state
    /// that is combined with the identity to one that is not.
    all_with_overflow,
};

/// An operator with its arrays, ready to try laws on their elements as they lie in one segment.
///
/// A law is about all states, so that segments do not matter: an element's position is its index. Differences
/// count as in check_laws().
class ElementTrial {
public:
    /// `arrays` are one for each parameter and outlive the trial. Columns of rows are [num_elements,
    /// num_features], in C order.
    ElementTrial(const Operator& op, const std::vector<Array>& arrays, std::int64_t num_elements,
                 std::int64_t num_features = 1);

    /// False if the arrays are not the operator's, or if a table holds rows; then nothing is tried.
    [[nodiscard]] bool is_possible() const { return is_possible_; }

    /// Numbers of elements: one for each element and feature.
    [[nodiscard]] std::int64_t size() const { return is_possible_ ? num_elements_ * num_features_ : 0; }

    /// Tries associativity on `most` triples of neighbours, one from each of as many parts of the array.
    /// Gives the first that breaks it. Takes microseconds.
    std::optional<CounterExample> try_neighbours(std::int64_t most);

    /// Tries the identity on every `step`-th number from `begin` to `end` - 1, as far as it is one of
    /// `elements`. Ends at the first that shows that it is none.
    TriedElements try_identity(std::int64_t begin, std::int64_t end, std::int64_t step, Elements elements);

private:
    /// The values of an element, one for each column.
    void load(std::int64_t index, std::int64_t feature, Element& values) const;
    /// False where a table is read outside of its length.
    bool lift(std::int64_t index, std::int64_t feature, Slot<double>* state);
    [[nodiscard]] bool is_finite(std::int64_t number) const;
    [[nodiscard]] bool is_finite(const std::vector<Slot<double>>& state) const;
    /// The counter-example of elements that compare() calls doubtful, if they break the equation, or
    /// `breaks_it` is known.
    std::optional<CounterExample> confirm(Equation equation, std::int64_t index, std::int64_t feature,
                                          bool breaks_it = false);

    const Operator& op_;
    const std::vector<Array>& arrays_;
    std::int64_t num_elements_, num_features_;
    bool is_possible_;
    LawMachine machine_;
    LawJudge judge_;
    std::vector<std::size_t> columns_;  ///< numbers of the parameters that are columns
    Element values_;                    ///< of the element that is lifted
    std::array<std::vector<Slot<double>>, 3> states_;
    std::int64_t num_doubtful_ = 0;
};

}  // namespace segfold
