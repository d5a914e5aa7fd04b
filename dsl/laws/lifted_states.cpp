// Decides whether an identity is neutral to every state that lift may give.
#include <random>

#include "dsl/check/check.h"
#include "dsl/laws/judge.h"

namespace segfold {
namespace {

/// Number of drawn elements, besides those of ElementDrawer::alike().
constexpr std::int64_t kElements = 512;

/// True if the value depends on no parameter and no place.
bool is_the_same_for_all(const Expression& value)
{
    if (value->kind == ExpressionKind::name || value->kind == ExpressionKind::gather)
        return false;
    for (const auto& argument : value->arguments)
        if (!is_the_same_for_all(argument))
            return false;
    return true;
}

/// Returns an operator whose lift reads a column in place of each computed value. Constants stay. Fields with
/// equal values share a column.
Operator of_any_lifted(const Operator& op)
{
    Operator any;
    any.name = op.name;
    any.state = op.state;
    any.combine = op.combine;
    any.earlier = op.earlier;
    any.later = op.later;
    for (std::size_t i = 0; i < op.state.size(); ++i) {
        const auto& field = op.state[i];
        const auto& value = op.lift.assignments[i].value;
        any.results.push_back({field.name, field.type, {}});
        auto lifted = value;
        for (std::size_t k = 0; k < i && !is_the_same_for_all(value); ++k)
            if (same(op.lift.assignments[k].value, value) && op.state[k].type == field.type)
                lifted = any.lift.assignments[k].value;
        if (!is_the_same_for_all(value) && same(lifted, value)) {
            const auto name = "lifted_" + std::to_string(i);
            any.parameters.push_back({name, field.type, false, {}});
            lifted = make_name(name);
        }
        any.lift.assignments.push_back({field.name, lifted, {}});
    }
    if (any.parameters.empty())  // an operator needs at least one parameter
        any.parameters.push_back({"unused", Type::i32, false, {}});
    return check(std::move(any));
}

}  // namespace

bool is_neutral_to_any_lifted(const Operator& op)
{
    const auto any = of_any_lifted(op);
    std::mt19937_64 random(1);
    LawMachine machine(any, random);
    LawJudge judge(any, machine);
    std::vector<Slot<double>> state(machine.num_fields());
    double spread = 0;
    for (const auto& recipe : draw_elements(machine, kElements, random)) {
        machine.reach(recipe, 0, state.data());
        for (const auto equation : {Equation::identity_left, Equation::identity_right})
            if (judge.compare(equation, {state.data(), nullptr, nullptr}, spread) == Agreement::doubtful)
                return false;
    }
    return true;
}

}  // namespace segfold
