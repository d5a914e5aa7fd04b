#include "dsl/smt/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace segfold::smt {
namespace {

constexpr std::array<const char*, 3> kStates = {"a", "b", "c"};

/// Returns a term that is true if both sides of an equation agree.
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
        default: return script.equal(script.combined(states[0], states[0]), states[0]);
    }
}

/// The inputs and constants from which a program may copy the value of a slot.
struct Origin {
    std::set<std::uint16_t> inputs;
    std::map<std::uint64_t, Constant> constants;
    bool is_computed = false;  ///< true if a computation may change the value

    void add(const Origin& other)
    {
        inputs.insert(other.inputs.begin(), other.inputs.end());
        constants.insert(other.constants.begin(), other.constants.end());
        is_computed = is_computed || other.is_computed;
    }
};

/// Returns the origin of each output of a program.
std::vector<Origin> origins(const Program& program)
{
    std::vector<Origin> slots(program.num_slots);
    for (std::uint16_t input = 0; input < program.num_inputs; ++input)
        slots[input].inputs.insert(input);
    for (const auto& constant : program.constants)
        slots[constant.slot].constants.emplace(constant.bits, constant);
    for (const auto& step : program.code) {
        auto& out = slots[step.out];
        if (step.opcode == Opcode::select || step.opcode == Opcode::minimum ||
            step.opcode == Opcode::maximum) {
            if (step.opcode != Opcode::select)
                out.add(slots[step.a]);
            else
                out.add(slots[step.c]);
            out.add(slots[step.b]);
        } else if (step.opcode != Opcode::jump && step.opcode != Opcode::jump_unless) {
            out.is_computed = true;
        }
    }
    std::vector<Origin> outputs;
    for (const auto slot : program.outputs)
        outputs.push_back(slots[slot]);
    return outputs;
}

/// Finds the fields of a state that always hold an element's index or a constant. Maps each field to its
/// constants.
std::map<std::size_t, std::vector<Constant>> index_fields(const Bytecode& bytecode)
{
    const auto lifted = origins(bytecode.lift);
    const auto combined = origins(bytecode.combine);
    const auto of_identity = bytecode.has_identity ? origins(bytecode.identity) : std::vector<Origin>();
    const std::size_t num_fields = bytecode.state.size();
    const auto index = static_cast<std::uint16_t>(bytecode.columns.size());
    std::set<std::size_t> fields;
    for (std::size_t f = 0; f < num_fields; ++f)
        if (bytecode.state[f] == Type::i64)
            fields.insert(f);
    const auto is_index = [&](std::size_t f) {
        return !lifted[f].is_computed && !combined[f].is_computed &&
               (of_identity.empty() || !of_identity[f].is_computed) &&
               std::ranges::all_of(lifted[f].inputs, [&](auto input) { return input == index; }) &&
               std::ranges::all_of(combined[f].inputs,
                                   [&](auto input) { return fields.contains(input % num_fields); });
    };
    while (std::erase_if(fields, [&](std::size_t f) { return !is_index(f); }) != 0) {}
    Origin all;
    for (const auto f : fields)
        for (const auto* parts : {&lifted, &combined, &of_identity})
            if (!parts->empty())
                all.add((*parts)[f]);
    std::map<std::size_t, std::vector<Constant>> result;
    for (const auto f : fields)
        for (const auto& [bits, constant] : all.constants)
            result[f].push_back(constant);
    for (const auto f : fields)
        result[f];
    return result;
}

/// Returns a term that is true if `append` equals combine with lift. `state` is an unknown state or the
/// identity.
std::string append_term(Script& script, const State& state, const State& element)
{
    return script.equal(script.appended(state, element), script.combined(state, script.lifted(element)));
}

/// Requires that every index in the state is less than `index`, because the state covers earlier elements.
void require_earlier_places(Script& script, const Bytecode& bytecode, const State& state,
                            const std::string& index)
{
    for (const auto& [field, constants] : index_fields(bytecode)) {
        auto term = script.options().theory == Theory::bits
                        ? fmt::format("(bvslt {} {})", state[field], index)
                        : fmt::format("(< {} {})", state[field], index);
        for (const auto& constant : constants)
            term += fmt::format(" (= {} {})", state[field], constant_term(script.options().theory, constant));
        script.require(fmt::format("(or {})", term));
    }
}

/// Returns a term that is true if the integers among `values` are far from the ends of their types.
std::string far_from_ends(const std::vector<std::string>& values, const std::vector<Type>& types,
                          bool has_products)
{
    std::string all = "true";
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (!is_integer(types[i]))
            continue;
        const int digits = has_products ? width_of(types[i]) / 2 - 1 : width_of(types[i]) - 3;
        const auto most = std::uint64_t{1} << digits;
        all += is_signed_integer(types[i]) ? fmt::format(" (<= (- {0}) {1} {0})", most, values[i])
                                           : fmt::format(" (<= {} {})", values[i], most);
    }
    return fmt::format("(and {})", all);
}

/// Requires an ordinary state, that is, the identity or a state whose integers are far from the ends of their
/// types.
void require_ordinary(Script& script, const Bytecode& bytecode, const State& state, bool has_products)
{
    if (std::ranges::none_of(bytecode.state, is_integer))
        return;  // without integers, every state is ordinary
    auto term = far_from_ends(state, bytecode.state, has_products);
    if (bytecode.has_identity)
        term += " " + script.equal(state, script.identity());
    script.require(fmt::format("(or {})", term));
}

void require_ordinary_element(Script& script, const Bytecode& bytecode, const State& element)
{
    auto types = bytecode.columns;
    types.insert(types.end(), 3, Type::i64);
    script.require(far_from_ends(element, types, false));
}

/// Returns a term that is true if all equations hold.
std::string terms_of(Script& script, const Bytecode& bytecode, std::span<const Equation> equations,
                     const std::vector<State>& states, const State& element)
{
    std::string holds = "true";
    if (is_of_append(equations.front())) {
        holds += " " + append_term(script, states[0], element);
        if (bytecode.has_identity)
            holds += " " + append_term(script, script.identity(), element);
    } else {
        for (const auto equation : equations)
            holds += " " + equation_term(script, equation, states);
    }
    return fmt::format("(and {})", holds);
}

void require_asked(Script& script, Asked asked, const std::string& holds)
{
    const auto fits = script.nothing_overflows();
    script.require(asked == Asked::overflows ? fmt::format("(not {})", fits) : fits);
    if (asked == Asked::breaks)
        script.require(fmt::format("(not {})", holds));
}

void define_candidates(Script& script, const std::string& prefix, const std::vector<std::string>& terms)
{
    for (std::size_t i = 0; i < terms.size(); ++i)
        script.add(fmt::format("(define-fun {}.{} () Bool {})", prefix, i, terms[i]));
}

}  // namespace

std::string law_question(const Bytecode& bytecode, std::span<const Equation> equations,
                         const ScriptOptions& options, Candidates* invariants, Asked asked)
{
    Script script(bytecode, options);
    const bool of_append = is_of_append(equations.front());
    // A question about overflow asks about ordinary states only.
    const bool of_ordinary = options.in_range && asked != Asked::breaks;
    const bool has_products = !of_append && equations.front() != Equation::identity_left;
    std::size_t count = 0;
    for (const auto equation : equations)
        count = std::max(count, is_of_append(equation) ? 1 : num_states(equation));
    std::vector<State> states;
    std::vector<std::vector<std::string>> claims;
    for (std::size_t i = 0; i < count; ++i) {
        states.push_back(script.any_state(kStates[i]));
        if (of_ordinary)
            require_ordinary(script, bytecode, states.back(), has_products);
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
    State element;
    if (of_append) {
        element = script.element("x");
        require_earlier_places(script, bytecode, states[0], element[bytecode.columns.size()]);
        if (of_ordinary)
            require_ordinary_element(script, bytecode, element);
    }
    if (asked != Asked::possible)
        require_asked(script, asked, terms_of(script, bytecode, equations, states, element));
    if (asked == Asked::overflows && !script.may_overflow())
        return "";
    return script.text() + "(check-sat)\n";
}

ElementQuestion element_question(const Bytecode& bytecode, Equation equation, const ScriptOptions& options,
                                 std::array<std::size_t, 3> counts, const ElementPlace& place)
{
    Script script(bytecode, options);
    ElementQuestion question;
    std::vector<State> states;
    std::string holds;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < num_states(equation); ++i) {
        State state;
        if (is_of_append(equation) && i + 1 == num_states(equation)) {
            const std::array<std::int64_t, 3> here = {place.index + at, place.position + at, place.segment};
            const auto element =
                script.element(fmt::format("{}1", kStates[i]), &here, &question.elements[i].emplace_back());
            holds = append_term(script, i == 0 ? script.identity() : states[0], element);
            break;
        }
        for (std::size_t k = 0; k < counts[i]; ++k, ++at) {
            const std::array<std::int64_t, 3> here = {place.index + at, place.position + at, place.segment};
            auto lifted = script.lifted(fmt::format("{}{}", kStates[i], k + 1), &here,
                                        &question.elements[i].emplace_back());
            state = k == 0 ? lifted : script.combined(state, lifted);
        }
        states.push_back(std::move(state));
    }
    if (holds.empty())
        holds = equation_term(script, equation, states);
    script.require(script.nothing_overflows());
    script.require(fmt::format("(not {})", holds));
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
    script.require(script.nothing_overflows());
    return script.text();
}

}  // namespace segfold::smt
