#include "dsl/laws/judge.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

namespace segfold {
namespace {

/// A difference of up to this many roundings of the coarsest type never refutes a law.
constexpr double kRoundings = 8;

/// A difference in wide precision counts only if it is more than this many times larger than the effect of
/// other rounding modes on the two sides.
constexpr long double kClearly = 16;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Precision of a type: its relative error, and the least number to which this error applies.
struct Rounding {
    double epsilon, least_normal;
};

Rounding rounding_of(Type type)
{
    switch (type) {
        case Type::f16: return {0x1p-10, 0x1p-14};
        case Type::bf16: return {0x1p-7, 0x1p-126};
        case Type::f32: return {0x1p-23, 0x1p-126};
        default: return {0x1p-52, 0x1p-1022};
    }
}

/// Returns the precision of the coarsest floating-point type in combine. Literals of this type are rounded to
/// it, even in wide precision.
Rounding coarsest_rounding(const Bytecode& bytecode)
{
    Rounding coarsest = rounding_of(Type::f64);
    const auto see = [&](Type type) {
        if (is_float(type)) {
            const auto own = rounding_of(type);
            coarsest = {std::max(coarsest.epsilon, own.epsilon),
                        std::max(coarsest.least_normal, own.least_normal)};
        }
    };
    std::ranges::for_each(bytecode.state, see);
    for (const auto& step : bytecode.combine.code) {
        see(step.type);
        see(step.target);
    }
    return coarsest;
}

bool same_bits(Type type, const Slot<double>& left, const Slot<double>& right)
{
    if (!is_float(type))
        return left.bits == right.bits;
    if (Machine<double>::in_single(type))
        return std::bit_cast<std::uint32_t>(left.single) == std::bit_cast<std::uint32_t>(right.single) ||
               (std::isnan(left.single) && std::isnan(right.single));
    return left.bits == right.bits || (std::isnan(left.real) && std::isnan(right.real));
}

/// Returns the distance of two values. It is infinite if they differ and are not both finite floats. With
/// `lenient`, NaN equals every value.
template <class Real>
Real distance(Type type, const Slot<Real>& left, const Slot<Real>& right, bool lenient = false)
{
    if (!is_float(type))
        return left.bits == right.bits ? Real(0) : static_cast<Real>(kInfinity);
    const Real l = Machine<Real>::get_real(left, type);
    const Real r = Machine<Real>::get_real(right, type);
    if (std::isnan(l) || std::isnan(r))
        return lenient || (std::isnan(l) && std::isnan(r)) ? Real(0) : static_cast<Real>(kInfinity);
    if (l == r)
        return 0;
    return std::isfinite(l) && std::isfinite(r) ? std::fabs(l - r) : static_cast<Real>(kInfinity);
}

/// Sets the rounding mode until the end of the scope.
class RoundingMode {
public:
    explicit RoundingMode(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
    ~RoundingMode() { std::fesetround(before_); }
    RoundingMode(const RoundingMode&) = delete;
    RoundingMode& operator=(const RoundingMode&) = delete;

private:
    int before_;
};

}  // namespace

std::vector<Equation> equations(Law law)
{
    switch (law) {
        case Law::associative: return {Equation::associative};
        case Law::identity:
            return {Equation::identity_left, Equation::identity_right, Equation::identity_twice};
        case Law::commutative: return {Equation::commutative};
        case Law::append: return {Equation::append, Equation::append_first};
        default: return {Equation::idempotent};
    }
}

std::array<std::size_t, 3> starts(const LawCase& recipes)
{
    return {0, recipes[0].size(), recipes[0].size() + recipes[1].size()};
}

Recipe taken(Equation equation, std::size_t i, const Recipe& recipe)
{
    const bool is_appended = is_of_append(equation) && i + 1 == num_states(equation);
    return is_appended && recipe.size() > 1 ? Recipe{recipe.front()} : recipe;
}

LawJudge::LawJudge(const Operator& op, LawMachine& machine)
    : machine_(machine),
      types_(machine.bytecode().state),
      exact_(combines_exactly(op)),
      sides_(machine.num_fields())
{
    const auto rounding = coarsest_rounding(machine.bytecode());
    tolerance_ = kRoundings * rounding.epsilon;
    least_normal_ = rounding.least_normal;
}

template <class Real>
void LawJudge::evaluate(Equation equation, const CaseStates<Real>& states, Sides<Real>& sides)
{
    auto& evaluator = machine_.evaluator<Real>();
    const auto [a, b, c] = states;
    auto* left = sides.left.data();
    auto* right = sides.right.data();
    auto* first = sides.first.data();
    auto* second = sides.second.data();
    if (a == nullptr)
        evaluator.identity(right);
    else
        std::copy_n(a, types_.size(), right);
    for (auto* unused : {first, second})
        std::copy_n(right, types_.size(), unused);
    switch (equation) {
        case Equation::associative:
            evaluator.combine(a, b, first);
            evaluator.combine(first, c, left);
            evaluator.combine(b, c, second);
            evaluator.combine(a, second, right);
            break;
        case Equation::commutative:
            evaluator.combine(a, b, left);
            evaluator.combine(b, a, right);
            break;
        case Equation::identity_left:
            evaluator.identity(first);
            evaluator.combine(first, a, left);
            break;
        case Equation::identity_right:
            evaluator.identity(first);
            evaluator.combine(a, first, left);
            break;
        case Equation::identity_twice: evaluator.combine(right, right, left); break;
        case Equation::idempotent: evaluator.combine(a, a, left); break;
        case Equation::append:
            evaluator.append(a, c, left);
            evaluator.combine(a, b, right);
            break;
        case Equation::append_first:
            evaluator.identity(first);
            evaluator.append(first, c, left);
            evaluator.combine(first, a, right);
            break;
    }
}

template <class Real>
bool LawJudge::evaluate(Equation equation, const LawCase& recipes, Evaluation<Real>& out)
{
    CaseStates<Real> states{};
    const auto places = starts(recipes);
    for (std::size_t i = 0; i < num_states(equation); ++i) {
        const auto recipe = taken(equation, i, recipes[i]);
        if (!machine_.reach(recipe, places[i], out.states[i].data(), recipes.place))
            return false;
        states[i] = out.states[i].data();
        if (is_of_append(equation) && i + 1 == num_states(equation)) {
            out.states[2] = machine_.element<Real>(recipe.front(), places[i], recipes.place);
            states[2] = out.states[2].data();
        }
    }
    evaluate(equation, states, out.sides);
    return true;
}

template <class Real>
auto LawJudge::scale(Equation equation, const CaseStates<Real>& states, const Sides<Real>& sides) const
    -> Scale<Real>
{
    Scale<Real> scale{static_cast<Real>(least_normal_)};
    const auto see = [&](const Slot<Real>* state) {
        for (std::size_t i = 0; state != nullptr && i < types_.size(); ++i) {
            if (!is_float(types_[i]))
                continue;
            const Real value = std::fabs(Machine<Real>::get_real(state[i], types_[i]));
            if (std::isfinite(value))
                scale.largest = std::max(scale.largest, value);
            else
                scale.finite = false;
        }
    };
    for (std::size_t i = 0; i < num_states(equation); ++i)
        see(states[i]);
    for (const auto* state : {&sides.left, &sides.right, &sides.first, &sides.second})
        see(state->data());
    return scale;
}

Agreement LawJudge::compare(Equation equation, const CaseStates<double>& states, double& spread)
{
    evaluate(equation, states, sides_);
    bool equal = true;
    for (std::size_t i = 0; equal && i < types_.size(); ++i)
        equal = same_bits(types_[i], sides_.left[i], sides_.right[i]);
    if (equal)
        return Agreement::equal;
    if (exact_)
        return Agreement::doubtful;
    double largest = 0;
    for (std::size_t i = 0; i < types_.size(); ++i)
        largest = std::max(largest, distance(types_[i], sides_.left[i], sides_.right[i]));
    if (largest == 0)
        return Agreement::equal;
    const auto scale = this->scale(equation, states, sides_);
    if (!scale.finite || largest == kInfinity)
        return Agreement::doubtful;
    spread = std::max(spread, largest / scale.largest);
    return largest <= tolerance_ * scale.largest ? Agreement::rounded : Agreement::doubtful;
}

bool LawJudge::refutes(Equation equation, const LawCase& recipes)
{
    Evaluation<double> working(types_.size());
    if (!evaluate(equation, recipes, working))
        return false;
    CaseStates<double> states{};
    for (std::size_t i = 0; i < num_states(equation); ++i)
        states[i] = working.states[i].data();
    if (is_of_append(equation))
        states[2] = working.states[2].data();
    double spread = 0;
    if (compare(equation, states, spread) != Agreement::doubtful)
        return false;
    return exact_ || refutes_in_wide(equation, recipes);
}

/// True if all floats of the elements are finite. Checks columns only, because drawn tables hold only finite
/// floats.
bool LawJudge::has_finite_elements(Equation equation, const LawCase& recipes) const
{
    const auto& columns = machine_.bytecode().columns;
    for (std::size_t i = 0; i < num_states(equation); ++i)
        for (const auto& element : taken(equation, i, recipes[i]))
            for (std::size_t k = 0; k < columns.size(); ++k)
                if (is_float(columns[k]) && !std::isfinite(Machine<double>::get_real(element[k], columns[k])))
                    return false;
    return true;
}

/// Decides a case in wide precision. If wide precision overflows or underflows, the case does not count as
/// refuted. A NaN on one side alone is excused if an element is not finite. If all elements are finite, the
/// NaN counts, because the operator itself makes it.
bool LawJudge::refutes_in_wide(Equation equation, const LawCase& recipes)
{
    const std::size_t n = types_.size();
    Evaluation<long double> wide(n);
    std::feclearexcept(FE_OVERFLOW | FE_UNDERFLOW);
    if (!evaluate(equation, recipes, wide) || std::fetestexcept(FE_OVERFLOW | FE_UNDERFLOW) != 0)
        return false;
    CaseStates<long double> states{};
    for (std::size_t i = 0; i < num_states(equation); ++i)
        states[i] = wide.states[i].data();
    const auto scale = this->scale(equation, states, wide.sides);
    const long double least = tolerance_ * scale.largest;
    const bool lenient = !has_finite_elements(equation, recipes);
    std::vector<long double> gaps(n);
    for (std::size_t i = 0; i < n; ++i)
        gaps[i] = distance(types_[i], wide.sides.left[i], wide.sides.right[i], lenient);
    const auto clear = [&](long double gap) { return gap > least; };
    for (std::size_t i = 0; i < n && lenient; ++i)
        if (gaps[i] == 0 && distance(types_[i], wide.sides.left[i], wide.sides.right[i]) != 0)
            excused_nan_ = true;
    if (std::ranges::none_of(gaps, clear))
        return false;
    std::vector<long double> noise(n);
    Evaluation<long double> other(n);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        const RoundingMode rounding(mode);
        evaluate(equation, recipes, other);
        for (std::size_t i = 0; i < n; ++i)
            noise[i] = std::max({noise[i], distance(types_[i], wide.sides.left[i], other.sides.left[i]),
                                 distance(types_[i], wide.sides.right[i], other.sides.right[i])});
    }
    for (std::size_t i = 0; i < n; ++i)
        if (clear(gaps[i]) && gaps[i] > kClearly * noise[i])
            return true;
    return false;
}

}  // namespace segfold
