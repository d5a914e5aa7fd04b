#include "dsl/rewrite/gradient/gradient_trial.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "dsl/error.h"
#include "dsl/evaluation/evaluator.h"

namespace segfold {
namespace {

Array random_array(Type type, std::size_t length, std::mt19937_64& random, bool is_positive)
{
    Array array(type, length);
    for (std::size_t i = 0; i < length; ++i) {
        Slot<long double> slot{};
        const auto bits = random();
        if (is_float(type)) {
            const auto unit = static_cast<long double>(bits >> 44) / 0x1p20L;
            slot.real = is_positive ? 0.25L + 1.75L * unit : 4 * unit - 2;
        } else {
            slot.bits = type == Type::boolean ? bits % 4 != 0 : bits % 4;
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
    GradientCase found;
    found.offsets = {0};
    for (int segment = 0; segment < num_segments; ++segment)
        found.offsets.push_back(found.offsets.back() + 1 + static_cast<std::int64_t>(random() % 6));
    const auto num_elements = static_cast<std::size_t>(found.offsets.back());
    for (const auto& parameter : op.parameters)
        found.arrays[parameter.name] = random_array(parameter.type,
                                                    parameter.scalar  ? 1
                                                    : parameter.table ? std::max<std::size_t>(num_elements, 8)
                                                                      : num_elements,
                                                    random, is_positive || parameter.scalar);
    for (const auto& step : gradient.operators)
        for (const auto& parameter : step.parameters)
            if (!found.arrays.contains(parameter.name) &&
                std::ranges::find(gradient.names, parameter.name) != gradient.names.end())
                found.arrays[parameter.name] = random_array(
                    parameter.type, parameter.table ? found.offsets.size() - 1 : num_elements, random, false);
    return found;
}

bool gradients_agree(const Operator& op, const Gradient& left, const Gradient& right)
{
    constexpr std::uint64_t kTrials = 4;
    constexpr double kTolerance = 1e-7;
    std::size_t num_compared = 0;
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
        const auto given = gradient_case(op, right, trial, trial % 2 == 0, 12);
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
            return false;  // a table that is read elsewhere
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
