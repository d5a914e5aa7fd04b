#pragma once
// Derivatives of expressions, in forward mode.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "dsl/rewrite/gradient/term_graph.h"

namespace segfold {

/// Computes derivatives of terms along one direction, which set() defines by the derivatives of some names.
///
/// An expression without a value stands for the derivative 0. All other derivatives have the type `wide`, so
/// that parts of narrower types lose nothing. dsl/README.md lists the derivatives at corners, such as the
/// derivative of abs at 0.
class Derivative {
public:
    Derivative(TermGraph& terms, Type wide) : terms_(terms), wide_(wide) {}

    /// Sets the derivative of a name or of any other term.
    void set(const Expression& term, const Expression& derivative) { known_[&*term] = derivative; }

    /// Returns the derivative of a term.
    [[nodiscard]] Expression of(const Expression& term);

    // Arithmetic of derivatives. 0 times anything is 0.
    [[nodiscard]] Expression sum(const Expression& left, const Expression& right);
    [[nodiscard]] Expression negated(const Expression& derivative);
    [[nodiscard]] Expression product(const Expression& derivative, const Expression& factor);
    [[nodiscard]] Expression quotient(const Expression& derivative, const Expression& divisor);
    /// Returns the derivative of `condition ? yes : no`, from the derivatives of both sides.
    [[nodiscard]] Expression chosen(const Expression& condition, const Expression& yes, const Expression& no);

    /// Returns the term, converted to the type of derivatives.
    [[nodiscard]] Expression widened(const Expression& term) { return terms_.convert(wide_, term); }
    [[nodiscard]] Expression one() { return terms_.number(1, wide_); }

private:
    [[nodiscard]] Expression of_binary(const Expression& term);
    [[nodiscard]] Expression of_conditional(const Expression& term);
    [[nodiscard]] Expression of_call(const Expression& term);
    [[nodiscard]] bool continues(const Expression& equal, const Expression& at_equal,
                                 const Expression& elsewhere);
    [[nodiscard]] Expression value_or_zero(const Expression& derivative);

    struct SignedTerm {
        Expression term;
        bool is_negative;
    };
    void add_terms(const Expression& derivative, bool is_negative, std::vector<SignedTerm>& terms) const;

    TermGraph& terms_;
    Type wide_;
    std::map<const ExpressionNode*, int> sums_;  ///< number of terms in each sum() that may be taken apart
    std::map<const ExpressionNode*, Expression> known_;
};

}  // namespace segfold
