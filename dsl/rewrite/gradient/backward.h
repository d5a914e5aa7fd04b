#pragma once
// Makes the operators that compute the gradient of an operator (its backward). gradient() chooses among
// several methods.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "dsl/derived.h"
#include "dsl/rewrite/gradient/derivative.h"

namespace segfold {

/// Makes the backward of one operator by one parameter. gradient() must have accepted both.
///
/// A scalar, or a table that is read only at [segment], counts as a column whose elements are equal within a
/// segment. The gradients by these elements are summed over each segment.
///
/// Let P be the state of the elements before an element, S the state of the elements after it, and L the
/// state of the element alone. Then total = combine(combine(P, L), S). The gradient is the derivative of the
/// results of this total by the element.
class Backward {
public:
    /// If `op` is a part of the operator `whole`, new arrays get the names that they would have in a gradient
    /// of `whole`.
    Backward(Operator op, std::string parameter, const Operator* whole = nullptr,
             const std::string& result = "grad_");

    /// True if combine adds up every field in fields_that_count().
    [[nodiscard]] bool has_sums() const;
    /// True if totals() can be made. If has_sums() is true, the gradient of totals() is right. Otherwise only
    /// a trial can tell.
    [[nodiscard]] bool has_totals() const { return derivatives_by_total().has_value(); }
    /// Returns the backward that reads only the total and the element.
    [[nodiscard]] Gradient totals() const;
    /// Returns the backward that keeps the indices of chosen elements. Returns none if a field is computed,
    /// not chosen.
    [[nodiscard]] std::optional<Gradient> places() const;
    /// Returns the backward by two scans.
    [[nodiscard]] Gradient two_scans() const;
    /// Returns the backward of an operator that returns only the outputs of its scan.
    [[nodiscard]] Gradient running() const;
    /// Returns the sum of the gradients of two parts of the operator.
    [[nodiscard]] Gradient sum(Gradient first, Gradient second) const;

private:
    using Values = std::map<std::string, Expression>;
    using Factors = std::pair<Expression, Expression>;
    using KnownFactors = std::map<const ExpressionNode*, Factors>;

    /// A sum over the elements of a segment. It is the part of a result's gradient that comes through outputs
    /// of `map` that read the result.
    struct Share {
        std::string name;
        Expression of_element;
    };
    /// The gradient by an element, and its sums.
    struct Parts {
        Expression gradient;
        std::vector<Share> shares;
    };

    // The parts of the operator as terms, by field or by result.
    [[nodiscard]] Values lifted(TermGraph& terms) const;
    [[nodiscard]] Values combined(TermGraph& terms, const Values& earlier, const Values& later) const;
    [[nodiscard]] Values finished(TermGraph& terms, const Values& total, const Expression& length) const;
    /// Same as combined(), except that if one operand is the identity, the value is the other operand.
    [[nodiscard]] Values combined_unless_identity(TermGraph& terms, const Values& earlier,
                                                  const Values& later, bool is_earlier) const;
    /// Columns that hold the state before each element.
    [[nodiscard]] Values states_before(TermGraph& terms, const std::string& prefix) const;
    /// fields() returns the fields of an operand of combine. totals_by_name() returns the fields of the total
    /// under the names that `map` uses.
    [[nodiscard]] Values fields(TermGraph& terms, Operand operand) const;
    [[nodiscard]] Values totals_by_name(TermGraph& terms) const;
    /// Returns the term by which an element reads the parameter: the name of a column, or an entry of a table
    /// or scalar.
    [[nodiscard]] Expression variable(TermGraph& terms) const;
    /// Returns a Derivative in the direction of variable().
    [[nodiscard]] Derivative derivative_by_element(TermGraph& terms) const;
    /// Returns the fields that depend on the parameter and on which results depend.
    [[nodiscard]] std::set<std::string> fields_that_count() const;
    /// Returns fields_that_count() and all fields that combine reads to compute them.
    [[nodiscard]] std::set<std::string> fields_behind_counted() const;
    /// True if the term multiplies or divides values that depend on fields with an infinite identity.
    [[nodiscard]] bool computes_with_infinity(const Expression& term, const Values& state) const;
    /// Returns the fields in fields_that_count() that are copied from one element and are not read for other
    /// such fields.
    [[nodiscard]] std::set<std::string> fields_chosen_apart() const;
    /// Returns the operator with a state that also holds, for each field in `chosen`, the index of the
    /// element from which the field was copied. Sets the derivatives of these fields in `of_total`. Returns
    /// none if a field is computed, not copied.
    [[nodiscard]] std::optional<Operator> with_places(TermGraph& terms, const std::set<std::string>& chosen,
                                                      Derivative& of_total) const;
    /// Returns the derivatives of the total by an element, as terms of the total and the element. Returns
    /// none if the equation has no such solution.
    [[nodiscard]] std::optional<Values> derivatives_by_total(TermGraph& terms,
                                                             const std::set<std::string>& without) const;
    [[nodiscard]] std::optional<Values> derivatives_by_total() const;

    /// Returns the gradient that comes from outputs: the sum of each output's derivative times its given
    /// gradient.
    [[nodiscard]] Expression of_outputs(TermGraph& terms, const Values& outputs,
                                        Derivative& derivative) const;
    [[noreturn]] void throw_zero_gradient() const;
    /// Returns the gradient by an element, computed from the total and its derivative.
    [[nodiscard]] Parts parts(TermGraph& terms, const Values& total, const Expression& length,
                              Derivative& of_total) const;
    [[nodiscard]] bool is_of_element(const Expression& term) const;
    /// Splits a term into a factor that is equal for all elements of a segment, and the remaining factor.
    [[nodiscard]] Factors split(TermGraph& terms, const Expression& term, KnownFactors& known) const;
    [[nodiscard]] Factors split_once(TermGraph& terms, const Expression& term, KnownFactors& known) const;

    /// Returns the backward by a `map`. `folded` computes the totals that `parts` reads.
    [[nodiscard]] Gradient by_map(TermGraph& terms, const Operator& folded, Parts parts,
                                  std::string means) const;
    /// Returns the fields of `folded` that the term reads by their names.
    [[nodiscard]] std::set<std::string> totals_in(const Operator& folded, const Expression& term) const;
    /// Returns the operator that returns totals, and the number of elements if `has_length` is true.
    [[nodiscard]] Operator totals_operator(const Operator& folded, const std::set<std::string>& fields,
                                           bool has_length) const;
    /// Returns the term with the total and the length read from tables that the operator `totals` returns.
    [[nodiscard]] Expression from_tables(TermGraph& terms, const Operator& totals,
                                         const Expression& term) const;
    /// Returns the operator with one more field for each sum in `shares`.
    [[nodiscard]] Operator with_shares(TermGraph& terms, Operator op, const std::vector<Share>& shares) const;
    /// Adds a field that no part reads to an operator without fields.
    static void give_a_state(Operator& op);
    /// Completes and checks an operator. Sets its name, its description and the parameters that it reads.
    [[nodiscard]] Operator finished_operator(Operator op, const std::string& suffix,
                                             const std::string& description) const;
    /// Returns a block of `op` that sets the given names to the given terms.
    [[nodiscard]] Block block(const TermGraph& terms, const Operator& op,
                              const std::vector<std::pair<std::string, Expression>>& values) const;
    /// Returns the scan that writes the states before each element. It writes only fields that `terms` read.
    /// Returns none if `terms` read no field.
    [[nodiscard]] std::optional<Operator> prefixes_operator(const Values& before,
                                                            const std::vector<Expression>& terms,
                                                            bool reverse) const;
    void add_columns(Operator& op, const std::vector<ResultField>& columns) const;
    /// Adds the last operator, which gives the gradient of each element. If the parameter is a table or a
    /// scalar, also adds the operator that sums these gradients.
    void add_last(std::vector<Operator>& operators, Operator op) const;
    /// Returns the output of the last operator.
    [[nodiscard]] ResultField output_of(TermGraph& terms) const;
    /// Makes a Gradient of the operators. Its inputs include the gradients of results that the operators
    /// read.
    [[nodiscard]] Gradient gradient_of(std::string means, std::vector<Operator> operators) const;

    Operator op_;
    std::string parameter_;
    std::string kept_;  ///< the parameter if it is a column, else any column; gives the number of elements
    bool is_summed_ = false;
    Type wide_ = Type::f32;
    std::string result_, length_;  ///< names of the gradient (grad_x) and of the table of lengths
    std::map<std::string, std::string> gradients_;  ///< result or output -> grad_NAME
    std::vector<Parameter> given_;                  ///< the arrays named in gradients_, as parameters
};

}  // namespace segfold
