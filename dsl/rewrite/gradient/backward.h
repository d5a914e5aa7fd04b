#pragma once
// The ways in which the backward of an operator is made; gradient.h chooses among them.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "dsl/rewrite/gradient/derivative.h"
#include "dsl/rewrite/gradient/gradient.h"

namespace segfold {

/// Makes the backward of one operator by one parameter. Both must have been accepted by gradient().
///
/// A table that is read at [segment] alone, and a scalar, are as columns whose elements are equal: the
/// gradients by these are summed over each segment.
///
/// With P the state of the elements before one element, S that of those behind it and L its own,
/// total = combine(combine(P, L), S). The gradient is that of the results of this total by the element.
class Backward {
public:
    /// An operator that is a part of another one names what it takes as that `whole` does.
    Backward(Operator op, std::string parameter, const Operator* whole = nullptr,
             const std::string& result = "grad_");

    /// True if all fields that count are added up.
    [[nodiscard]] bool has_sums() const;
    /// True if totals() can be made; whether it is right shows only where it is tried, unless has_sums().
    [[nodiscard]] bool has_totals() const { return derivatives_by_total().has_value(); }
    /// The backward from the total and the element alone.
    [[nodiscard]] Gradient totals() const;
    /// The backward that knows the places of chosen elements; none if fields are not chosen.
    [[nodiscard]] std::optional<Gradient> places() const;
    /// The backward by two scans.
    [[nodiscard]] Gradient two_scans() const;
    /// The backward of an operator that returns the outputs of its scan alone.
    [[nodiscard]] Gradient running() const;
    /// The sum of the gradients of two parts of the operator.
    [[nodiscard]] Gradient sum(Gradient first, Gradient second) const;

private:
    using Values = std::map<std::string, Expression>;
    using Factors = std::pair<Expression, Expression>;
    using KnownFactors = std::map<const ExpressionNode*, Factors>;

    /// A sum over the elements of a segment, by which outputs of `map` depend on a result.
    struct Share {
        std::string name;
        Expression of_element;
    };
    /// The gradient of an element.
    struct Parts {
        Expression gradient;
        std::vector<Share> shares;
    };

    // The parts of the operator as terms, by field or by result.
    [[nodiscard]] Values lifted(TermGraph& terms) const;
    [[nodiscard]] Values combined(TermGraph& terms, const Values& earlier, const Values& later) const;
    [[nodiscard]] Values finished(TermGraph& terms, const Values& total, const Expression& length) const;
    /// The same where one operand may be the identity: then combine is not computed.
    [[nodiscard]] Values combined_unless_identity(TermGraph& terms, const Values& earlier,
                                                  const Values& later, bool is_earlier) const;
    /// Columns with the state of the elements before each one.
    [[nodiscard]] Values states_before(TermGraph& terms, const std::string& prefix) const;
    /// The fields of an operand of combine, and those of the total as `map` sees them.
    [[nodiscard]] Values fields(TermGraph& terms, Operand operand) const;
    [[nodiscard]] Values totals_by_name(TermGraph& terms) const;
    /// What an element reads of the parameter: a column's name, or the entry of a table or a scalar.
    [[nodiscard]] Expression variable(TermGraph& terms) const;
    /// The derivative in whose direction only that changes.
    [[nodiscard]] Derivative derivative_by_element(TermGraph& terms) const;
    /// The fields whose totals depend on the column, and on which results depend.
    [[nodiscard]] std::set<std::string> fields_that_count() const;
    /// The same with all that combine reads to compute them.
    [[nodiscard]] std::set<std::string> fields_behind_counted() const;
    /// True if the term multiplies or divides by fields of a state that are infinite in the identity.
    [[nodiscard]] bool computes_with_infinity(const Expression& term, const Values& state) const;
    /// Those that choose among values of one field, which no other field that counts reads.
    [[nodiscard]] std::set<std::string> fields_chosen_apart() const;
    /// The operator with the places of chosen fields, whose derivatives it gives to `of_total`. None if a
    /// field is computed.
    [[nodiscard]] std::optional<Operator> with_places(TermGraph& terms, const std::set<std::string>& chosen,
                                                      Derivative& of_total) const;
    /// The derivatives of totals, of the total and an element; none if they cannot be solved for.
    [[nodiscard]] std::optional<Values> derivatives_by_total(TermGraph& terms,
                                                             const std::set<std::string>& without) const;
    [[nodiscard]] std::optional<Values> derivatives_by_total() const;

    /// The sum of the derivatives of outputs, each times the gradient by it.
    [[nodiscard]] Expression of_outputs(TermGraph& terms, const Values& outputs,
                                        Derivative& derivative) const;
    [[noreturn]] void throw_zero_gradient() const;
    /// The gradient of an element, from the total and its derivative.
    [[nodiscard]] Parts parts(TermGraph& terms, const Values& total, const Expression& length,
                              Derivative& of_total) const;
    [[nodiscard]] bool is_of_element(const Expression& term) const;
    /// Splits a term into a factor that is the same for all elements of a segment, and the rest.
    [[nodiscard]] Factors split(TermGraph& terms, const Expression& term, KnownFactors& known) const;
    [[nodiscard]] Factors split_once(TermGraph& terms, const Expression& term, KnownFactors& known) const;

    /// The backward by a `map`, where `folded` computes the totals that `parts` reads.
    [[nodiscard]] Gradient by_map(TermGraph& terms, const Operator& folded, Parts parts,
                                  std::string means) const;
    /// The fields of `folded` that the term reads by their names.
    [[nodiscard]] std::set<std::string> totals_in(const Operator& folded, const Expression& term) const;
    /// The operator that returns totals, and the number of elements if `has_length`.
    [[nodiscard]] Operator totals_operator(const Operator& folded, const std::set<std::string>& fields,
                                           bool has_length) const;
    /// The term with totals and the length read from tables that the totals operator has made.
    [[nodiscard]] Expression from_tables(TermGraph& terms, const Operator& totals,
                                         const Expression& term) const;
    /// The operator with a field for each sum.
    [[nodiscard]] Operator with_shares(TermGraph& terms, Operator op, const std::vector<Share>& shares) const;
    /// Gives an operator of no fields one that nothing reads.
    static void give_a_state(Operator& op);
    /// The operator with a name, the parameters that it reads and a description, checked.
    [[nodiscard]] Operator finished_operator(Operator op, const std::string& suffix,
                                             const std::string& description) const;
    /// The terms as a block of `op`.
    [[nodiscard]] Block block(const TermGraph& terms, const Operator& op,
                              const std::vector<std::pair<std::string, Expression>>& values) const;
    /// The operator that writes the states before each element that the terms read; none if they read none.
    [[nodiscard]] std::optional<Operator> prefixes_operator(const Values& before,
                                                            const std::vector<Expression>& terms,
                                                            bool reverse) const;
    void add_columns(Operator& op, const std::vector<ResultField>& columns) const;
    /// Adds the last operator: that of the gradient of each element. For tables and scalars another one sums.
    void add_last(std::vector<Operator>& operators, Operator op) const;
    /// The output of that operator.
    [[nodiscard]] ResultField output_of(TermGraph& terms) const;
    /// The operators with the gradients of results that they take.
    [[nodiscard]] Gradient gradient_of(std::string means, std::vector<Operator> operators) const;

    Operator op_;
    std::string parameter_;
    std::string kept_;  ///< the parameter if it is a column, else any column, which tells the elements
    bool is_summed_ = false;
    Type wide_ = Type::f32;
    std::string result_, length_;                   ///< names: grad_x, and the table of lengths
    std::map<std::string, std::string> gradients_;  ///< result or output -> grad_NAME
    std::vector<Parameter> given_;                  ///< the parameters behind gradients_
};

}  // namespace segfold
