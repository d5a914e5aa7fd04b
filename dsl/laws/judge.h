#pragma once
// Decides whether a case breaks a law. Evaluates both sides of an equation and allows for rounding.
#include <array>
#include <vector>

#include "dsl/laws/states.h"

namespace segfold {

/// The equations that make up the laws.
enum class Equation : std::uint8_t {
    associative,     ///< combine(combine(a, b), c) == combine(a, combine(b, c))
    identity_left,   ///< combine(identity, a) == a
    identity_right,  ///< combine(a, identity) == a
    identity_twice,  ///< combine(identity, identity) == identity
    commutative,     ///< combine(a, b) == combine(b, a)
    idempotent,      ///< combine(a, a) == a
    append,          ///< append(a, x) == combine(a, b), where b = lift(x)
    append_first,    ///< append(identity, x) == combine(identity, a), where a = lift(x)
};

/// True for the equations of append. Their last state consists of one element.
constexpr bool is_of_append(Equation equation)
{
    return equation == Equation::append || equation == Equation::append_first;
}

/// True unless the equation needs an identity that the operator lacks. Only such equations are tried.
constexpr bool is_posed(Equation equation, const Bytecode& bytecode)
{
    return equation != Equation::append_first || bytecode.has_identity;
}

/// Returns the equations that make up a law.
std::vector<Equation> equations(Law law);

/// Number of states in the equation, 0 to 3.
constexpr std::size_t num_states(Equation equation)
{
    switch (equation) {
        case Equation::associative: return 3;
        case Equation::commutative:
        case Equation::append: return 2;
        case Equation::identity_twice: return 0;
        default: return 1;
    }
}

/// A case of an equation: for each state, the elements that make it (a recipe). All elements follow one
/// another in one segment, which begins at LawMachine::places()[place].
struct LawCase {
    std::array<Recipe, 3> recipes;
    std::size_t place = 0;

    Recipe& operator[](std::size_t i) { return recipes[i]; }
    const Recipe& operator[](std::size_t i) const { return recipes[i]; }
};

/// Returns how many elements of the case precede the first element of each state.
std::array<std::size_t, 3> starts(const LawCase& recipes);

/// Returns the elements of state `i` that the equation uses: only the first element if the equation appends
/// state `i`, else all elements.
Recipe taken(Equation equation, std::size_t i, const Recipe& recipe);

/// Both sides of an equation. `first` and `second` hold intermediate states.
template <class Real>
struct Sides {
    explicit Sides(std::size_t num_fields)
        : left(num_fields), right(num_fields), first(num_fields), second(num_fields)
    {}
    std::vector<Slot<Real>> left, right, first, second;
};

/// The states of a case; null for states that the equation does not have. In equations of append, the last
/// entry is the appended element in the form of Evaluator::append.
template <class Real>
using CaseStates = std::array<const Slot<Real>*, 3>;

/// Outcome of a comparison of both sides of an equation in working precision.
enum class Agreement : std::uint8_t {
    equal,
    rounded,   ///< both sides differ by no more than a few roundings
    doubtful,  ///< wide precision must decide; if combine never rounds, the law is already refuted
};

/// Evaluates both sides of equations and decides whether they differ by more than rounding explains.
class LawJudge {
public:
    LawJudge(const Operator& op, LawMachine& machine);

    /// Evaluates both sides in working precision and compares them. If their relative difference is larger
    /// than `spread`, stores it in `spread`.
    Agreement compare(Equation equation, const CaseStates<double>& states, double& spread);

    /// True if the case breaks the equation. Decides cases that compare() calls doubtful.
    bool refutes(Equation equation, const LawCase& recipes);

    /// True if a case was excused because one side alone was NaN and an element was not finite.
    [[nodiscard]] bool excused_nan() const { return excused_nan_; }
    void forget_nan() { excused_nan_ = false; }

    /// Both sides of the equation in the last evaluation in working precision.
    [[nodiscard]] const Sides<double>& sides() const { return sides_; }

private:
    /// The states and sides of a case in one precision.
    template <class Real>
    struct Evaluation {
        explicit Evaluation(std::size_t num_fields)
            : states(3, std::vector<Slot<Real>>(num_fields)), sides(num_fields)
        {}
        std::vector<std::vector<Slot<Real>>> states;
        Sides<Real> sides;
    };

    /// The largest finite float in a case, but at least the least normal number. `finite` is true if the
    /// states and all values computed from them are finite.
    template <class Real>
    struct Scale {
        Real largest;
        bool finite = true;
    };

    template <class Real>
    bool evaluate(Equation equation, const LawCase& recipes, Evaluation<Real>& out);
    template <class Real>
    void evaluate(Equation equation, const CaseStates<Real>& states, Sides<Real>& sides);
    template <class Real>
    [[nodiscard]] Scale<Real> scale(Equation equation, const CaseStates<Real>& states,
                                    const Sides<Real>& sides) const;
    bool refutes_in_wide(Equation equation, const LawCase& recipes);
    [[nodiscard]] bool has_finite_elements(Equation equation, const LawCase& recipes) const;

    LawMachine& machine_;
    const std::vector<Type>& types_;
    bool exact_;
    double tolerance_, least_normal_;
    bool excused_nan_ = false;
    Sides<double> sides_;
};

}  // namespace segfold
