#include "dsl/smt/script.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/evaluation/interpreter.h"

namespace segfold::smt {
namespace {

/// Largest number of calls of an exponential function f for which the script states f(a + b) = f(a) f(b).
constexpr std::size_t kMostPowers = 12;

bool is_arithmetic(Opcode opcode)
{
    return opcode == Opcode::add || opcode == Opcode::subtract || opcode == Opcode::multiply ||
           opcode == Opcode::negate || opcode == Opcode::absolute || opcode == Opcode::shift_left ||
           opcode == Opcode::convert || opcode == Opcode::divide || opcode == Opcode::bit_not;
}

}  // namespace

/// The state of the translation of one program.
struct Script::Run {
    std::vector<std::string> slots;
    std::vector<Type> types;
    std::map<std::uint16_t, Constant> constants;
    std::set<std::uint16_t> moved;
    bool leaves_open;
};

Type result_type(const Instruction& instruction)
{
    if (is_float(instruction.type)
            ? is_test(instruction.opcode)
            : (instruction.opcode >= Opcode::equal && instruction.opcode <= Opcode::less_equal))
        return Type::boolean;
    if (instruction.opcode == Opcode::convert || instruction.opcode == Opcode::gather)
        return instruction.target;
    if (instruction.opcode == Opcode::count_ones || instruction.opcode == Opcode::leading_zeros)
        return Type::i32;
    return instruction.type;
}

std::string Script::define(Type type, const std::string& term)
{
    const auto name = fmt::format("t.{}", ++num_names_);
    text_ += fmt::format("(define-fun {} () {} {})\n", name, sort_of(options_.theory, type), term);
    return name;
}

std::string Script::declare(const std::string& name, Type type, Unknown* unknown)
{
    const bool by_bits = options_.theory == Theory::bits && is_float(type);
    const std::string declared = by_bits ? name + ".bits" : name;
    if (unknown != nullptr)
        *unknown = {declared, type};
    if (by_bits) {
        text_ += fmt::format("(declare-const {} (_ BitVec {}))\n", declared, 8 * size_bytes(type));
        text_ += fmt::format("(define-fun {} () {} ((_ to_fp {}) {}))\n", name,
                             sort_of(options_.theory, type), format_of(type), declared);
        return name;
    }
    text_ += fmt::format("(declare-const {} {})\n", declared, sort_of(options_.theory, type));
    if (options_.in_range && is_integer(type))
        require(in_range_term(type, name));
    return name;
}

/// Returns a short name for `text`. Equal texts get the same name. Texts that contain such names stay short.
std::string Script::key(const std::string& text)
{
    const auto [found, is_new] = keys_.emplace(text, fmt::format("#{}", keys_.size()));
    return found->second;
}

std::string Script::open_value(Type type, const std::string& why)
{
    left_open_.insert(why);
    if (options_.theory == Theory::integers && is_float(type))
        return key(fmt::format("open {}", ++num_names_));
    return declare(fmt::format("open.{}", ++num_names_), type);
}

State Script::any_state(const std::string& name)
{
    State state;
    for (std::size_t i = 0; i < bytecode_.state.size(); ++i) {
        if (options_.theory == Theory::integers && is_float(bytecode_.state[i]))
            throw OutOfReach("a state with floats is none of integers");
        state.push_back(declare(fmt::format("{}.{}", name, i), bytecode_.state[i]));
    }
    return state;
}

State Script::identity() { return run(bytecode_.identity, {}, {}, false); }

State Script::lifted(const std::string& name, const std::array<std::int64_t, 3>* place,
                     UnknownElement* element)
{
    return lifted(this->element(name, place, element));
}

State Script::element(const std::string& name, const std::array<std::int64_t, 3>* place,
                      UnknownElement* element)
{
    std::vector<std::string> inputs;
    const auto& types = bytecode_.columns;
    for (std::size_t k = 0; k < types.size(); ++k) {
        const auto column = fmt::format("{}.{}", name, bytecode_.column_names[k]);
        Unknown unknown{column, types[k]};
        if (options_.theory == Theory::integers && is_float(types[k]))
            inputs.push_back(key(column));
        else
            inputs.push_back(declare(column, types[k], &unknown));
        if (element != nullptr)
            element->push_back(unknown);
    }
    constexpr const char* names[] = {"index", "position", "segment"};
    for (std::size_t i = 0; i < 3; ++i) {
        if (place != nullptr) {
            inputs.push_back(
                constant_term(options_.theory, {0, Type::i64, static_cast<std::uint64_t>((*place)[i]), 0}));
            continue;
        }
        inputs.push_back(declare(fmt::format("place.{}.{}", name, names[i]), Type::i64));
        require(options_.theory == Theory::bits ? fmt::format("(bvsle #x0000000000000000 {})", inputs.back())
                                                : fmt::format("(<= 0 {})", inputs.back()));
    }
    return inputs;
}

State Script::lifted(const State& element)
{
    auto types = bytecode_.columns;
    types.insert(types.end(), 3, Type::i64);
    return run(bytecode_.lift, element, types, true);
}

State Script::appended(const State& state, const State& element)
{
    auto inputs = state;
    inputs.insert(inputs.end(), element.begin(), element.end());
    auto types = bytecode_.state;
    types.insert(types.end(), bytecode_.columns.begin(), bytecode_.columns.end());
    types.insert(types.end(), 3, Type::i64);
    return run(bytecode_.append, inputs, types, false);
}

State Script::combined(const State& earlier, const State& later)
{
    auto inputs = earlier;
    inputs.insert(inputs.end(), later.begin(), later.end());
    auto types = bytecode_.state;
    types.insert(types.end(), bytecode_.state.begin(), bytecode_.state.end());
    return run(bytecode_.combine, inputs, types, false);
}

std::vector<std::string> Script::results(const Bytecode& other, const State& state)
{
    auto inputs = state;
    auto types = bytecode_.state;
    const auto zero = constant_term(options_.theory, {0, Type::i64, 0, 0});
    inputs.insert(inputs.end(), {zero, zero});
    types.insert(types.end(), {Type::i64, Type::i64});
    const auto of_laws = in_range_;
    auto results = run(other.finish, inputs, types, false);
    in_range_ = of_laws;
    return results;
}

std::string Script::equal(const State& left, const State& right) const
{
    std::string terms;
    for (std::size_t i = 0; i < left.size(); ++i)
        terms += fmt::format(" (= {} {})", left[i], right[i]);
    return fmt::format("(and true{})", terms);
}

void Script::require(const std::string& term) { text_ += fmt::format("(assert {})\n", term); }

std::vector<std::string> Script::run(const Program& program, const std::vector<std::string>& inputs,
                                     const std::vector<Type>& types, bool leaves_open)
{
    Run run{std::vector<std::string>(program.num_slots),
            std::vector<Type>(program.num_slots, Type::i32),
            {},
            {},
            leaves_open};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        run.slots[i] = inputs[i];
        run.types[i] = types[i];
    }
    for (const auto& constant : program.constants) {
        run.types[constant.slot] = constant.type;
        run.constants.emplace(constant.slot, constant);
        if (options_.theory == Theory::integers && is_float(constant.type)) {
            run.slots[constant.slot] = key(fmt::format("{} {:a}", name(constant.type), constant.real));
            continue;
        }
        try {
            run.slots[constant.slot] = constant_term(options_.theory, constant);
        } catch (const OutOfReach& reason) {
            if (!leaves_open)
                throw;
            run.slots[constant.slot] = open_value(constant.type, reason.what());
        }
    }
    for (const auto& instruction : program.code) {
        if (instruction.opcode == Opcode::jump || instruction.opcode == Opcode::jump_unless)
            continue;
        // A copy merges the two sides of a condition that reads a table in one of them.
        if (instruction.opcode == Opcode::copy) {
            if (run.moved.insert(instruction.out).second) {
                run.slots[instruction.out] = open_value(instruction.type, read_of_tables());
                run.types[instruction.out] = instruction.type;
            }
            continue;
        }
        run.slots[instruction.out] = step(run, instruction);
        run.types[instruction.out] = result_type(instruction);
    }
    if (options_.in_range && !leaves_open)
        add_ranges(run, program);
    std::vector<std::string> outputs;
    for (const auto slot : program.outputs)
        outputs.push_back(run.slots[slot]);
    return outputs;
}

/// Finds the condition under which each slot's value is used, from the outputs backwards. An empty condition
/// means that the value is never used. Requires that integers in use stay in the ranges of their types.
void Script::add_ranges(const Run& run, const Program& program)
{
    std::vector<std::string> used(program.num_slots);
    const auto use = [&](std::uint16_t slot, const std::string& where) {
        auto& all = used[slot];
        if (slot < program.num_inputs)
            return;
        if (all != "true")
            all = all.empty() || where == "true" ? where : define(Type::boolean, apply("or", all, where));
    };
    const auto both = [&](const std::string& where, const std::string& condition) {
        return define(Type::boolean, where == "true" ? condition : apply("and", where, condition));
    };
    for (const auto slot : program.outputs)
        use(slot, "true");
    for (auto step = program.code.rbegin(); step != program.code.rend(); ++step) {
        const auto& where = used[step->out];
        const bool is_jump = step->opcode == Opcode::jump || step->opcode == Opcode::jump_unless;
        if (is_jump || step->opcode == Opcode::copy || where.empty())
            continue;  // a copy merges two sides; the range of its value is not required
        const auto result = result_type(*step);
        if (is_integer(result) && is_arithmetic(step->opcode))
            in_range_ += fmt::format(" (=> {} {})", where, in_range_term(result, run.slots[step->out]));
        use(step->a, where);
        if (step->opcode == Opcode::select) {
            use(step->b, both(where, run.slots[step->a]));
            use(step->c, both(where, fmt::format("(not {})", run.slots[step->a])));
        } else {
            use(step->b, where);
            use(step->c, where);
        }
    }
}

std::string Script::read_of_tables() const
{
    const auto& are_scalars = bytecode_.are_scalars;
    return std::ranges::find(are_scalars, false) == are_scalars.end() ? "a scalar" : "a table";
}

std::string Script::step(Run& run, const Instruction& instruction)
{
    const Type result = result_type(instruction);
    try {
        const auto term = translate(run, instruction, result);
        if (options_.theory == Theory::integers && is_float(result))
            return term;
        const auto name = define(result, term);
        if (!options_.in_range || !run.leaves_open || !is_integer(result) ||
            !is_arithmetic(instruction.opcode))
            return name;
        const auto kept = open_value(result, "what overflows");
        require(fmt::format("(=> {} (= {} {}))", in_range_term(result, name), kept, name));
        return kept;
    } catch (const OutOfReach& reason) {
        if (!run.leaves_open)
            throw;
        return open_value(result, reason.what());
    }
}

std::string Script::translate(Run& run, const Instruction& instruction, Type result)
{
    const auto [opcode, type, target, out, a_slot, b_slot, c_slot] = instruction;
    const auto& a = run.slots[a_slot];
    const auto& b = run.slots[b_slot];
    const auto& c = run.slots[c_slot];
    const auto theory = options_.theory;
    if (opcode == Opcode::gather)
        throw OutOfReach(bytecode_.are_scalars[instruction.b] ? "a scalar" : "a table");
    const bool reads_floats = is_float(type);
    if (theory == Theory::integers && (reads_floats || is_float(result))) {
        // The theory of integers knows one fact about computed floats: equal operations on equal operands
        // give equal values.
        const auto made =
            key(fmt::format("{} {} {} {} {} {} {}", static_cast<int>(opcode), static_cast<int>(type),
                            static_cast<int>(target), a, b, c, static_cast<int>(result)));
        if (is_float(result))
            return made;
        auto& open = open_[made];
        if (open.empty())
            open = declare(fmt::format("open.{}", ++num_names_), result);
        return open;
    }
    if (opcode == Opcode::select)
        return fmt::format("(ite {} {} {})", a, b, c);
    if (opcode == Opcode::convert)
        return converted(instruction, a);
    if (reads_floats && theory == Theory::bits)
        return float_term(opcode, type, a, b, c);
    if (reads_floats) {
        const auto term = real_term(opcode, a, b, c);
        return term.empty()
                   ? uninterpreted(opcode, opcode == Opcode::power ? std::vector{a, b} : std::vector{a})
                   : term;
    }
    if (theory == Theory::bits || type == Type::boolean)
        return word_term(opcode, type, a, b);
    if (theory == Theory::all_reals)
        return relaxed_term(opcode, a, b);
    const auto constant = run.constants.find(b_slot);
    return integer_term(opcode, type, a, b, constant == run.constants.end() ? nullptr : &constant->second);
}

std::string Script::converted(const Instruction& instruction, const std::string& a)
{
    if (options_.theory == Theory::all_reals) {
        if (is_float(instruction.type) && is_integer(instruction.target))
            throw OutOfReach("a conversion to an integer");
        const bool is_truth = instruction.type == Type::boolean || instruction.target == Type::boolean;
        const auto real = [](Type type) { return type == Type::boolean ? type : Type::f64; };
        return is_truth ? number_conversion(real(instruction.type), real(instruction.target), a) : a;
    }
    return options_.theory == Theory::bits ? bits_conversion(instruction.type, instruction.target, a)
                                           : number_conversion(instruction.type, instruction.target, a);
}

/// Calls an uninterpreted function, about which the prover knows only that equal arguments give equal values.
/// For these arguments, also states the properties that define roots and powers.
std::string Script::uninterpreted(Opcode opcode, const std::vector<std::string>& arguments)
{
    const auto function = fmt::format("real.{}", word_for(opcode));
    if (functions_.insert(function).second)
        text_ += fmt::format("(declare-fun {} ({}) Real)\n", function,
                             arguments.size() == 2 ? "Real Real" : "Real");
    const auto value = define(Type::f64, fmt::format("({} {}{})", function, arguments[0],
                                                     arguments.size() == 2 ? " " + arguments[1] : ""));
    if (opcode == Opcode::square_root)
        require(fmt::format("(=> (>= {0} 0.0) (and (>= {1} 0.0) (= (* {1} {1}) {0})))", arguments[0], value));
    if (opcode != Opcode::exponential && opcode != Opcode::exponential2)
        return value;
    require(fmt::format("(and (> {1} 0.0) (=> (= {0} 0.0) (= {1} 1.0)))", arguments[0], value));
    auto& powers = powers_[function];
    if (powers.size() == kMostPowers)
        return value;
    powers.emplace_back(arguments[0], value);
    const auto law = [&](const auto& p, const auto& q, const auto& r) {
        require(fmt::format("(=> (= (+ {} {}) {}) (= (* {} {}) {}))", p.first, q.first, r.first, p.second,
                            q.second, r.second));
    };
    for (std::size_t i = 0; i < powers.size(); ++i)
        for (std::size_t j = i; j < powers.size(); ++j) {
            law(powers[i], powers[j], powers.back());
            if (j + 1 != powers.size())
                law(powers.back(), powers[i], powers[j]);
            if (i != j && j + 1 != powers.size())
                law(powers.back(), powers[j], powers[i]);
        }
    return value;
}

}  // namespace segfold::smt
