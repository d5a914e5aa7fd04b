#include "dsl/laws/exhaustive.h"

#include <algorithm>

#include "dsl/stopped.h"

namespace segfold {
namespace {

constexpr int kMostStates = 256;
constexpr std::size_t kMostElements = 65536;
constexpr std::size_t kMostSuspects = 48;
constexpr std::size_t kMostSuspectElements = 12;

/// Returns the number of values of bool or an 8-bit integer; 0 for larger types.
std::size_t num_values(Type type)
{
    return type == Type::boolean ? 2 : is_integer(type) && size_bytes(type) == 1 ? kMostStates : 0;
}

/// Returns value `number` of a type: 0, 1, -1, 2, ... for i8; 0, 1, 2, ... for other types.
Slot<double> value_number(Type type, std::size_t number)
{
    Slot<double> slot{};
    const std::uint64_t half = (number + 1) / 2;
    slot.bits = wrap(type, !is_signed_integer(type) ? number : number % 2 ? half : 0 - half);
    return slot;
}

/// Returns the number of possible elements if all of them can be lifted; else 0.
std::size_t num_elements(const Operator& op, const Bytecode& bytecode)
{
    const bool by_place =
        uses_name(op.lift, "index") || uses_name(op.lift, "position") || uses_name(op.lift, "segment");
    if (by_place || !bytecode.tables.empty())
        return 0;
    std::size_t count = 1;
    for (const Type type : bytecode.columns)
        if (count = count * num_values(type); count > kMostElements)
            return 0;
    return count;
}

}  // namespace

std::optional<int> num_small_states(const Operator& op)
{
    std::size_t count = 1;
    for (const auto& field : op.state)
        if (count = count * num_values(field.type); count == 0 || count > kMostStates)
            return std::nullopt;
    return static_cast<int>(count);
}

StateTable::StateTable(const Operator& op, LawMachine& machine, std::mt19937_64& random)
    : machine_(machine), size_(*num_small_states(op))
{
    combine_all();
    const bool all_lifted = num_elements(op, machine.bytecode()) != 0;
    reach_all(lift_all(op, random));
    complete_ = all_lifted || static_cast<int>(reached_.size()) == size_;
    if (op.has_identity()) {
        std::vector<Slot<double>> state(machine.num_fields());
        machine.evaluator<double>().identity(state.data());
        identity_ = encode(state.data());
    }
}

int StateTable::encode(const Slot<double>* state) const
{
    std::uint64_t code = 0;
    const auto& types = machine_.bytecode().state;
    for (std::size_t i = 0; i < types.size(); ++i)
        code = types[i] == Type::boolean ? code * 2 + state[i].bits
                                         : code * kMostStates + (state[i].bits & 0xff);
    return static_cast<int>(code);
}

void StateTable::decode(int code, Slot<double>* state) const
{
    const auto& types = machine_.bytecode().state;
    auto rest = static_cast<std::uint64_t>(code);
    for (std::size_t i = types.size(); i-- > 0;) {
        state[i].bits = wrap(types[i], rest);
        rest /= num_values(types[i]);
    }
}

void StateTable::combine_all()
{
    const std::size_t fields = machine_.num_fields();
    std::vector<Slot<double>> states(static_cast<std::size_t>(size_) * fields);
    for (int i = 0; i < size_; ++i)
        decode(i, states.data() + static_cast<std::size_t>(i) * fields);
    std::vector<Slot<double>> out(fields);
    auto& evaluator = machine_.evaluator<double>();
    table_.reserve(static_cast<std::size_t>(size_ * size_));
    for (int a = 0; a < size_; ++a)
        for (int b = 0; b < size_; ++b) {
            evaluator.combine(states.data() + static_cast<std::size_t>(a) * fields,
                              states.data() + static_cast<std::size_t>(b) * fields, out.data());
            table_.push_back(static_cast<std::uint8_t>(encode(out.data())));
        }
}

/// Returns the distinct states of single elements, each with the first element that gives it.
std::vector<std::pair<int, Element>> StateTable::lift_all(const Operator& op, std::mt19937_64& random)
{
    const auto& columns = machine_.bytecode().columns;
    std::vector<Slot<double>> state(machine_.num_fields());
    std::vector<bool> seen(static_cast<std::size_t>(size_));
    std::vector<std::pair<int, Element>> lifted;
    const auto add = [&](const Element& element) {
        if (!machine_.reach({element}, 0, state.data()))
            return;
        const int code = encode(state.data());
        if (!seen[static_cast<std::size_t>(code)])
            lifted.emplace_back(code, element);
        seen[static_cast<std::size_t>(code)] = true;
    };
    const std::size_t count = num_elements(op, machine_.bytecode());
    for (std::size_t i = 0; i < count; ++i) {
        Element element;
        std::size_t rest = i;
        for (const Type type : columns) {
            element.push_back(value_number(type, rest % num_values(type)));
            rest /= num_values(type);
        }
        add(element);
    }
    if (count == 0)
        for (const auto& recipe : draw_recipes(machine_, 2 * kMostStates, random, Draw::all))
            add(recipe[0]);
    return lifted;
}

/// Reaches states breadth first, so that few elements make each state. If combine is associative, appending
/// elements on the right reaches every state.
void StateTable::reach_all(const std::vector<std::pair<int, Element>>& lifted)
{
    std::vector<bool> seen(static_cast<std::size_t>(size_));
    origins_.resize(static_cast<std::size_t>(size_));
    const auto add = [&](int state, std::optional<int> earlier, const Element& element) {
        if (seen[static_cast<std::size_t>(state)])
            return;
        seen[static_cast<std::size_t>(state)] = true;
        reached_.push_back(state);
        origins_[static_cast<std::size_t>(state)] = {earlier, element};
    };
    for (const auto& [state, element] : lifted)
        add(state, std::nullopt, element);
    for (std::size_t i = 0; i < reached_.size(); ++i)
        for (const auto& [state, element] : lifted)
            add(combined(reached_[i], state), reached_[i], element);
}

Recipe StateTable::recipe(int state) const
{
    Recipe reversed;
    for (std::optional<int> at = state; at; at = origins_[static_cast<std::size_t>(*at)].earlier)
        reversed.push_back(origins_[static_cast<std::size_t>(*at)].element);
    return {reversed.rbegin(), reversed.rend()};
}

void StateTable::suspect(std::initializer_list<int> states, Exhaustion& result) const
{
    LawCase recipes;
    std::size_t elements = 0;
    for (std::size_t i = 0; const int state : states) {
        recipes[i] = recipe(state);
        elements += recipes[i++].size();
    }
    if (elements <= kMostSuspectElements && result.suspects.size() < kMostSuspects)
        result.suspects.push_back(std::move(recipes));
}

void StateTable::try_associativity(Deadline deadline, Exhaustion& result) const
{
    const auto row = [&](int state) { return table_.data() + static_cast<std::size_t>(state * size_); };
    for (const int a : reached_) {
        throw_if_stopped();
        if (std::chrono::steady_clock::now() > deadline)
            return;
        const auto* a_row = row(a);
        int found = 0;
        for (const int b : reached_) {
            const auto* left = row(a_row[b]);
            const auto* b_row = row(b);
            unsigned differ = 0;
            for (const int c : reached_)
                differ |= static_cast<unsigned>(left[c] ^ a_row[b_row[c]]);
            if (differ == 0 || found == 4)
                continue;
            ++found;
            const auto breaks = [&](int c) { return left[c] != a_row[b_row[c]]; };
            suspect({a, b, *std::ranges::find_if(reached_, breaks)}, result);
        }
        result.cases += static_cast<std::int64_t>(reached_.size() * reached_.size());
    }
    result.finished = true;
}

Exhaustion StateTable::try_all(Equation equation, Deadline deadline) const
{
    Exhaustion result;
    if (equation == Equation::identity_twice) {
        result.cases = 1;
        result.finished = combined(identity_, identity_) == identity_;
        return result;
    }
    if (equation == Equation::associative) {
        try_associativity(deadline, result);
        return result;
    }
    for (const int a : reached_) {
        if (equation == Equation::commutative) {
            for (const int b : reached_)
                if (combined(a, b) != combined(b, a))
                    suspect({a, b}, result);
            result.cases += static_cast<std::int64_t>(reached_.size());
            continue;
        }
        const int other = equation == Equation::idempotent      ? combined(a, a)
                          : equation == Equation::identity_left ? combined(identity_, a)
                                                                : combined(a, identity_);
        if (other != a)
            suspect({a}, result);
        ++result.cases;
    }
    result.finished = true;
    return result;
}

}  // namespace segfold
