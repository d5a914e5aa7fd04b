#include "dsl/smt/questions.h"

#include <fmt/format.h>

#include <optional>

namespace segfold::smt {
namespace {

constexpr std::array<const char*, 3> kStates = {"a", "b", "c"};

/// Both sides of an equation, as one term that holds where they are equal.
std::string equation_term(Script& script, Equation equation, const std::vector<State>& states)
{
    switch (equation) {
        case Equation::associative: {
            const auto left = script.combined(script.combined(states[0], states[1]), states[2]);
            return script.equal(left, script.combined(states[0], script.combined(states[1], states[2])));
        }
        case Equation::commutative:
            return script.equal(script.combined(states[0], states[1]), script.combined(states[1], states[0]));
        case Equation::identity_left:
            return script.equal(script.combined(script.identity(), states[0]), states[0]);
        case Equation::identity_right:
            return script.equal(script.combined(states[0], script.identity()), states[0]);
        case Equation::identity_twice:
            return script.equal(script.combined(script.identity(), script.identity()), script.identity());
        default:
            return script.equal(script.combined(states[0], states[0]), states[0]);
    }
}

void define_candidates(Script& script, const std::string& prefix, const std::vector<std::string>& terms)
{
    for (std::size_t i = 0; i < terms.size(); ++i)
        script.add(fmt::format("(define-fun {}.{} () Bool {})", prefix, i, terms[i]));
}

}  // namespace

std::string law_question(const Bytecode& bytecode, std::span<const Equation> equations,
                         const ScriptOptions& options, Candidates* invariants, bool negated)
{
    Script script(bytecode, options);
    std::size_t count = 0;
    for (const auto equation : equations)
        count = std::max(count, num_states(equation));
    std::vector<State> states;
    std::vector<std::vector<std::string>> claims;
    for (std::size_t i = 0; i < count; ++i) {
        states.push_back(script.any_state(kStates[i]));
        if (invariants != nullptr)
            claims.push_back(script.results(invariants->bytecode(), states.back()));
    }
    for (std::size_t i = 0; !claims.empty() && i < invariants->list().size(); ++i) {
        script.comment(invariants->list()[i].text);
        std::string all = "true";
        for (const auto& of_state : claims)
            all += " " + of_state[i];
        script.add(fmt::format("(assert (! (and {}) :named inv.{}))", all, i));
    }
    std::string holds = "true";
    for (const auto equation : equations)
        holds += " " + equation_term(script, equation, states);
    if (negated)
        script.require(fmt::format("(not (and {}))", holds));
    return script.text() + "(check-sat)\n";
}

ElementQuestion element_question(const Bytecode& bytecode, Equation equation, const ScriptOptions& options,
                                 std::array<std::size_t, 3> counts, const ElementPlace& place)
{
    Script script(bytecode, options);
    ElementQuestion question;
    std::vector<State> states;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < num_states(equation); ++i) {
        State state;
        for (std::size_t k = 0; k < counts[i]; ++k, ++at) {
            const std::array<std::int64_t, 3> here = {place.index + at, place.position + at, place.segment};
            auto lifted = script.lifted(fmt::format("{}{}", kStates[i], k + 1), &here,
                                        &question.elements[i].emplace_back());
            state = k == 0 ? lifted : script.combined(state, lifted);
        }
        states.push_back(std::move(state));
    }
    script.require(fmt::format("(not {})", equation_term(script, equation, states)));
    std::string names;
    for (const auto& elements : question.elements)
        for (const auto& element : elements)
            for (const auto& unknown : element)
                names += " " + unknown.name;
    question.text = script.text() + "(check-sat)\n";
    if (!names.empty())
        question.text += fmt::format("(get-value ({}))\n", names.substr(1));
    return question;
}

std::string invariant_script(const Bytecode& bytecode, Candidates& candidates, const ScriptOptions& options)
{
    Script script(bytecode, options);
    const auto of = [&](const State& state) { return script.results(candidates.bytecode(), state); };
    const auto earlier = script.any_state("a");
    const auto later = script.any_state("b");
    define_candidates(script, "earlier", of(earlier));
    define_candidates(script, "later", of(later));
    define_candidates(script, "lifted", of(script.lifted("x")));
    define_candidates(script, "combined", of(script.combined(earlier, later)));
    return script.text();
}

}  // namespace segfold::smt
