#include "dsl/smt/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dsl/check/check.h"
#include "dsl/check/rows.h"

namespace segfold::smt {
namespace {

/// Limits: generated candidates, drawn states of few elements, drawn states of many elements, and constants
/// that are compared with one field.
constexpr std::size_t kMostDrawn = 2400;
constexpr std::int64_t kSampledRecipes = 400;
constexpr std::int64_t kSampledLongRecipes = 12;
constexpr std::size_t kMostConstants = 4;

/// Generates the candidates of an operator.
class Generator {
public:
    explicit Generator(const Operator& op) : op_(op), bytecode_(compile_bytecode(op)) {}

    std::vector<Candidate> run() &&
    {
        const std::size_t n = op_.state.size();
        for (std::size_t x = 0; x < n; ++x)
            of_one(x);
        for (std::size_t x = 0; x < n; ++x)
            for (std::size_t y = 0; y < n; ++y)
                if (x != y)
                    of_two(x, y);
        implications();
        return std::move(list_);
    }

private:
    [[nodiscard]] Type type(std::size_t field) const { return op_.state[field].type; }
    [[nodiscard]] Expression field(std::size_t x) const
    {
        return make_field(Operand::state, op_.state[x].name);
    }
    [[nodiscard]] const std::string& name(std::size_t x) const { return op_.state[x].name; }
    [[nodiscard]] bool is_number(std::size_t x) const { return type(x) != Type::boolean; }

    void add(Expression claim, std::string text, Candidate::Kind kind = Candidate::Kind::other,
             std::size_t x = 0, std::size_t y = 0)
    {
        if (list_.size() < kMostDrawn)
            list_.push_back({kind, x, y, std::move(claim), std::move(text)});
    }

    /// Returns the claim "x = 0", or for a bool "not x".
    [[nodiscard]] Expression is_zero(std::size_t x) const
    {
        return is_number(x) ? field(x) == Expression(0) : !field(x);
    }
    [[nodiscard]] std::string zero_text(std::size_t x) const
    {
        return is_number(x) ? fmt::format("({} = 0)", name(x)) : fmt::format("not {}", name(x));
    }

    [[nodiscard]] Expression is_identity(std::size_t x) const { return field(x) == *op_.state[x].identity; }

    void of_one(std::size_t x)
    {
        if (!is_number(x)) {
            add(field(x), name(x));
            add(!field(x), "not " + name(x));
            return;
        }
        if (!is_unsigned_integer(type(x)))
            add(field(x) >= Expression(0), fmt::format("0 <= {}", name(x)), Candidate::Kind::not_negative, x);
        if (is_float(type(x)))
            add(!call("isnan", {field(x)}), fmt::format("{} is a number", name(x)));
        if (is_signed_integer(type(x)))
            add(field(x) >= Expression(-1), fmt::format("-1 <= {}", name(x)));
        add(field(x) >= Expression(1), fmt::format("1 <= {}", name(x)));
        add(field(x) == Expression(0), fmt::format("{} = 0", name(x)), Candidate::Kind::zero, x);
        add(field(x) == Expression(0) || field(x) == Expression(1), fmt::format("{} = 0 or 1", name(x)));
        if (is_float(type(x)))
            return;
        std::set<std::uint64_t> seen;
        // The constant may come from a wider field. Skips it if this field's type cannot hold it.
        const int digits = 8 * static_cast<int>(size_bytes(type(x))) - (is_signed_integer(type(x)) ? 1 : 0);
        const std::uint64_t most = digits < 20 ? (std::uint64_t{1} << digits) - 1 : 1000000;
        const auto ends = [&](std::uint64_t bits) {
            if (bits > most || seen.size() >= 2 * kMostConstants || !seen.insert(bits).second)
                return;
            add(field(x) <= Expression(bits), fmt::format("{} <= {}", name(x), bits));
        };
        for (const auto* program : {&bytecode_.lift, &bytecode_.combine})
            for (const auto& constant : program->constants)
                if (!is_float(constant.type) && constant.type != Type::boolean && constant.bits != 0) {
                    ends(constant.bits);
                    ends(constant.bits - 1);
                }
    }

    void of_two(std::size_t x, std::size_t y)
    {
        if (type(x) == type(y) && is_number(x)) {
            add(field(x) <= field(y), fmt::format("{} <= {}", name(x), name(y)), Candidate::Kind::ordered, x,
                y);
            if (x < y)
                add(field(x) == field(y), fmt::format("{} = {}", name(x), name(y)));
        }
        if (is_number(x) || is_number(y)) {
            add(!is_zero(x) || is_zero(y), fmt::format("{} => {}", zero_text(x), zero_text(y)));
            if (!is_number(x))
                add(!field(x) || is_zero(y), fmt::format("{} => {}", name(x), zero_text(y)));
            if (!is_number(y))
                add(!is_zero(x) || field(y), fmt::format("{} => {}", zero_text(x), name(y)));
        } else {
            add(!field(x) || field(y), fmt::format("{} => {}", name(x), name(y)));
            add(!field(x) || !field(y), fmt::format("{} => not {}", name(x), name(y)));
        }
        if (op_.has_identity() && is_number(x) && is_number(y))
            add(!is_identity(x) || is_identity(y),
                fmt::format("({} as in the identity) => ({} as in the identity)", name(x), name(y)));
    }

    /// Adds (x = y) => (z = w), (x = y) => (z = 0), (x = 0) => (y = z), and b => (x = y) for bools b.
    void implications()
    {
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        for (std::size_t x = 0; x < op_.state.size(); ++x)
            for (std::size_t y = x + 1; y < op_.state.size(); ++y)
                if (type(x) == type(y) && is_number(x))
                    pairs.emplace_back(x, y);
        const auto equal = [&](const auto& pair) { return field(pair.first) == field(pair.second); };
        const auto text = [&](const auto& pair) {
            return fmt::format("({} = {})", name(pair.first), name(pair.second));
        };
        for (const auto& from : pairs)
            for (const auto& to : pairs)
                if (from != to)
                    add(!equal(from) || equal(to), fmt::format("{} => {}", text(from), text(to)));
        for (const auto& pair : pairs)
            for (std::size_t z = 0; z < op_.state.size(); ++z) {
                if (z == pair.first || z == pair.second)
                    continue;
                add(!equal(pair) || is_zero(z), fmt::format("{} => {}", text(pair), zero_text(z)));
                add(!is_zero(z) || equal(pair), fmt::format("{} => {}", zero_text(z), text(pair)));
                if (!is_number(z))
                    add(!field(z) || equal(pair), fmt::format("{} => {}", name(z), text(pair)));
            }
    }

    const Operator& op_;
    Bytecode bytecode_;
    std::vector<Candidate> list_;
};

/// Returns the operator for one feature, with one bool result for each candidate. A result over rows must
/// depend on a row, but a candidate need not.
Operator with_candidates(Operator op, const std::vector<Candidate>& list)
{
    op = of_one_feature(without_outputs(std::move(op)));
    op.results.clear();
    op.empty.reset();
    op.finish.emplace();
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto result = fmt::format("candidate_{}", i);
        op.results.push_back({result, Type::boolean, {}});
        op.finish->assignments.push_back({result, list[i].claim, {}});
    }
    return check(std::move(op));
}

/// True if all floats of a state are finite.
bool is_finite(const Bytecode& bytecode, const Slot<double>* state)
{
    for (std::size_t i = 0; i < bytecode.state.size(); ++i)
        if (is_float(bytecode.state[i]) &&
            !std::isfinite(Machine<double>::get_real(state[i], bytecode.state[i])))
            return false;
    return true;
}

/// True if `claim` states that a float is 0, and the float differs from 0 by no more than the rounding of the
/// state's other floats.
bool is_rounding(const Candidate& claim, const Bytecode& bytecode, const Slot<double>* state)
{
    if (claim.kind != Candidate::Kind::zero || !is_float(bytecode.state[claim.x]))
        return false;
    const auto magnitude = [&](std::size_t i) {
        return std::abs(Machine<double>::get_real(state[i], bytecode.state[i]));
    };
    double most = 0;
    for (std::size_t i = 0; i < bytecode.state.size(); ++i)
        if (i != claim.x && is_float(bytecode.state[i]))
            most = std::max(most, magnitude(i));
    const auto bytes = size_bytes(bytecode.state[claim.x]);
    return magnitude(claim.x) <= std::ldexp(most, 4 - (bytes == 8 ? 53 : bytes == 4 ? 24 : 8));
}

/// Draws states and returns their fields, one state after another.
std::vector<Slot<double>> sample(const Operator& op, bool tame)
{
    std::mt19937_64 random(1);
    LawMachine machine(op, random);
    const auto draw = tame ? Draw::small_integers : Draw::all;
    auto recipes = draw_recipes(machine, kSampledRecipes, random, draw);
    for (auto& recipe : draw_long_recipes(machine, kSampledLongRecipes, random, draw))
        recipes.push_back(std::move(recipe));
    const std::size_t n = machine.num_fields();
    std::vector<Slot<double>> states;
    std::vector<Slot<double>> state(n);
    const auto keep = [&] {
        if (!tame || is_finite(machine.bytecode(), state.data()))
            states.insert(states.end(), state.begin(), state.end());
    };
    for (const auto& recipe : recipes)
        if (machine.reach(recipe, 0, state.data()))
            keep();
    if (op.has_identity()) {
        machine.evaluator<double>().identity(state.data());
        keep();
    }
    return states;
}

}  // namespace

Candidates::Candidates(const Operator& op, std::vector<Candidate> list)
    : list_(std::move(list)),
      bytecode_(compile_bytecode(with_candidates(op, list_))),
      evaluator_(bytecode_, std::vector<TableView>(bytecode_.tables.size())),
      results_(list_.size())
{}

std::vector<bool> Candidates::hold(const Slot<double>* state)
{
    evaluator_.finish(state, 0, 0, results_.data());
    std::vector<bool> holds;
    for (const auto& result : results_)
        holds.push_back(result.bits != 0);
    return holds;
}

std::vector<Candidate> surviving_candidates(const Operator& op, bool tame)
{
    const auto all = Generator(op).run();
    const auto states = sample(op, tame);
    std::vector<Candidate> left;
    for (std::size_t begin = 0; begin < all.size() && left.size() < kMostCandidates;
         begin += kMostCandidates) {
        const auto end = std::min(begin + kMostCandidates, all.size());
        Candidates part(op, {all.begin() + static_cast<std::ptrdiff_t>(begin),
                             all.begin() + static_cast<std::ptrdiff_t>(end)});
        std::vector<bool> holds(end - begin, true);
        for (std::size_t at = 0; at < states.size(); at += op.state.size()) {
            const auto here = part.hold(states.data() + at);
            for (std::size_t i = 0; i < holds.size(); ++i)
                holds[i] =
                    holds[i] &&
                    (here[i] || (tame && is_rounding(all[begin + i], part.bytecode(), states.data() + at)));
        }
        for (std::size_t i = 0; i < holds.size() && left.size() < kMostCandidates; ++i)
            if (holds[i])
                left.push_back(all[begin + i]);
    }
    return left;
}

std::string print(const Operator& op, const std::vector<Candidate>& invariants)
{
    // Prints chains such as x <= y <= z. A chain begins with a field that no other field is known to be
    // below.
    std::vector<const Candidate*> ordered;
    std::set<std::size_t> not_negative, above;
    for (const auto& one : invariants) {
        if (one.kind == Candidate::Kind::ordered) {
            ordered.push_back(&one);
            above.insert(one.y);
        } else if (one.kind == Candidate::Kind::not_negative) {
            not_negative.insert(one.x);
        }
    }
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    for (const bool from_below : {true, false})  // the second pass prints cycles, which have no lowest field
        for (std::size_t i = 0; i < ordered.size(); ++i) {
            if (ordered[i] == nullptr || (from_below && above.contains(ordered[i]->x)))
                continue;
            std::size_t last = ordered[i]->x;
            std::string chain = not_negative.contains(last) ? "0 <= " : "";
            chain += op.state[last].name;
            not_negative.erase(last);
            for (bool grows = true; grows;) {
                grows = false;
                for (auto& next : ordered)
                    if (next != nullptr && next->x == last) {
                        last = next->y;
                        chain += " <= " + op.state[last].name;
                        next = nullptr;
                        grows = true;
                        break;
                    }
            }
            add(chain);
        }
    for (const auto field : not_negative)
        add("0 <= " + op.state[field].name);
    for (const auto& one : invariants)
        if (one.kind == Candidate::Kind::zero || one.kind == Candidate::Kind::other)
            add(one.text);
    return text;
}

}  // namespace segfold::smt
