#include "dsl/rewrite/gradient/gradient_trial.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "dsl/error.h"
#include "dsl/evaluation/evaluator.h"

namespace segfold {
namespace {

/// The numbers in an operator's text, near which its values may change abruptly.
struct Constants {
    std::vector<double> reals;
    std::vector<std::int64_t> integers;
    bool asks_nan = false;

    Constants() = default;
    explicit Constants(const Operator& op)
    {
        for (const auto* block : {&op.lift, &op.combine})
            collect(*block);
        for (const auto* block : {&op.append, &op.finish, &op.empty, &op.map})
            if (*block)
                collect(**block);
    }

    /// Returns the length of a segment that reaches the positions named in the operator's text, up to a
    /// limit.
    [[nodiscard]] std::int64_t longest() const
    {
        constexpr std::int64_t kFew = 6, kMost = 40;
        std::int64_t most = kFew;
        for (const auto value : integers)
            if (value < kMost)
                most = std::max(most, value + 2);
        return most;
    }

private:
    void collect(const Block& block)
    {
        for (const auto& let : block.lets)
            collect(let.value);
        for (const auto& assignment : block.assignments)
            collect(assignment.value);
    }
    void collect(const Expression& expression)
    {
        const auto& node = *expression;
        if (node.kind == ExpressionKind::integer && !node.negative && node.magnitude < 1000) {
            integers.push_back(static_cast<std::int64_t>(node.magnitude));
            reals.push_back(static_cast<double>(node.magnitude));
        }
        if (node.kind == ExpressionKind::real && std::fabs(node.real) < 1000)
            reals.push_back(node.real);
        asks_nan = asks_nan || (node.kind == ExpressionKind::call && node.name == "isnan");
        for (const auto& argument : node.arguments)
            collect(argument);
    }
};

Array random_array(Type type, std::size_t length, std::mt19937_64& random, bool is_positive,
                   const Constants& constants)
{
    Array array(type, length);
    constexpr std::uint64_t kOften = 8;  // one float in 8 and three integers in 8 lie beside a constant
    for (std::size_t i = 0; i < length; ++i) {
        Slot<long double> slot{};
        const auto bits = random();
        if (is_float(type)) {
            const auto unit = static_cast<long double>(bits >> 44) / 0x1p20L;
            slot.real = is_positive ? 0.25L + 1.75L * unit : 4 * unit - 2;
            if (const auto choice = bits % kOften; choice == 0 && !constants.reals.empty()) {
                const auto beside = constants.reals[(bits >> 8) % constants.reals.size()] + (unit - 0.5L);
                slot.real = is_positive && beside <= 0.25L ? slot.real : beside;
            } else if (choice == 1 && constants.asks_nan && bits >> 8 & 1) {
                slot.real = NAN;
            }
        } else {
            slot.bits = type == Type::boolean ? bits % 4 != 0 : bits % 4;
            if (type != Type::boolean && bits % kOften < 3 && !constants.integers.empty())
                slot.bits = static_cast<std::uint64_t>(
                    std::max<std::int64_t>(constants.integers[(bits >> 8) % constants.integers.size()] +
                                               static_cast<std::int64_t>((bits >> 24) % 3) - 1,
                                           0));
            if (size_bytes(type) == 1)
                slot.bits &= 127;
        }
        Machine<long double>::store(slot, type, array.data(), static_cast<std::int64_t>(i));
    }
    return array;
}

}  // namespace

GradientCase gradient_case(const Operator& op, const Gradient& gradient, std::uint64_t seed, bool is_positive,
                           int num_segments)
{
    std::mt19937_64 random(seed);
    const Constants constants(op);
    GradientCase found;
    found.offsets = {0};
    for (int segment = 0; segment < num_segments; ++segment) {
        const auto most = static_cast<std::uint64_t>(random() % 2 == 0 ? 6 : constants.longest());
        found.offsets.push_back(found.offsets.back() + 1 + static_cast<std::int64_t>(random() % most));
    }
    const auto num_elements = static_cast<std::size_t>(found.offsets.back());
    for (const auto& parameter : op.parameters)
        found.arrays[parameter.name] = random_array(parameter.type,
                                                    parameter.scalar  ? 1
                                                    : parameter.table ? std::max<std::size_t>(num_elements, 8)
                                                                      : num_elements,
                                                    random, is_positive || parameter.scalar, constants);
    for (const auto& step : gradient.operators)
        for (const auto& parameter : step.parameters)
            if (!found.arrays.contains(parameter.name) &&
                std::ranges::find(gradient.names, parameter.name) != gradient.names.end())
                found.arrays[parameter.name] =
                    random_array(parameter.type, parameter.table ? found.offsets.size() - 1 : num_elements,
                                 random, false, Constants());
    return found;
}

bool gradients_agree(const Operator& op, const Gradient& left, const Gradient& right)
{
    // Each trial uses the gradient of one result alone, so that a large gradient cannot hide another.
    const auto num_trials = std::max<std::uint64_t>(8, 4 * right.names.size());
    constexpr double kTolerance = 1e-7;
    std::size_t num_compared = 0;
    for (std::uint64_t trial = 0; trial < num_trials; ++trial) {
        auto given = gradient_case(op, right, trial, trial % 2 == 0, 12);
        for (std::size_t k = 0; k < right.names.size(); ++k)
            if (right.names.size() > 1 && k != trial / 2 % right.names.size())
                if (const auto array = given.arrays.find(right.names[k]); array != given.arrays.end())
                    std::memset(array->second.data(), 0, array->second.bytes());
        std::vector<Array> found;
        try {
            for (const auto* gradient : {&left, &right}) {
                ArraysByName arrays;
                for (const auto& [name, array] : given.arrays)
                    arrays[name] = array.lend();
                fold_few_in_turn(gradient->operators, arrays, given.offsets);
                found.push_back(std::move(arrays.at(gradient->result)));
            }
        } catch (const InputError&) {
            return false;  // a table is read outside of its random entries
        }
        const auto one = found[0].as<double>(), other = found[1].as<double>();
        double greatest = 0;
        for (const auto value : other)
            greatest = std::isfinite(value) ? std::max(greatest, std::fabs(value)) : greatest;
        for (std::size_t i = 0; i < other.size(); ++i) {
            if (!std::isfinite(other[i]))
                continue;
            ++num_compared;
            if (!(std::fabs(one[i] - other[i]) <= kTolerance * (std::fabs(other[i]) + 1e-3 * greatest)))
                return false;
        }
    }
    return num_compared >= 16;
}

}  // namespace segfold
