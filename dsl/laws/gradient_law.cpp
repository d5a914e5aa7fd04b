#include "dsl/laws/gradient_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsl/error.h"
#include "dsl/printer.h"
#include "dsl/rewrite/gradient/reduced.h"

namespace segfold {
namespace {

/// Returns the change of the loss between two folds. The loss is the sum over all results and outputs of
/// value times gradient. Values that stay equal, even infinite ones, add 0 to the change.
long double change_of_loss(const Gradient& gradient, const GradientCase& at, const WideByName& from,
                           const WideByName& to)
{
    long double change = 0;
    for (std::size_t i = 0; i < gradient.of.size(); ++i) {
        const auto factors = at.arrays.at(gradient.names[i]).as<double>();
        const auto &before = from.at(gradient.of[i]), &after = to.at(gradient.of[i]);
        for (std::size_t k = 0; k < before.size(); ++k)
            if (before[k] != after[k])
                change += (after[k] - before[k]) * static_cast<long double>(factors[k]);
    }
    return change;
}

/// Computes the derivative of the loss by one element, from central differences with three step sizes.
/// Returns NaN if the step sizes give different derivatives.
double difference_at(const Operator& op, const Gradient& gradient, GradientCase& at, std::size_t element)
{
    constexpr int kSteps = 3;
    auto& x = at.arrays.at(gradient.parameter).as<double>()[element];
    const double middle = x;
    long double central[kSteps], better[kSteps - 1];
    for (int i = 0; i < kSteps; ++i) {
        const double step = std::ldexp(1.0, -15 - i);
        x = middle + step;
        const auto above = fold_few(op, at.arrays, at.offsets);
        x = middle - step;
        const auto below = fold_few(op, at.arrays, at.offsets);
        x = middle;
        central[i] = change_of_loss(gradient, at, below, above) / (2 * static_cast<long double>(step));
    }
    for (int i = 0; i + 1 < kSteps; ++i)
        better[i] = (4 * central[i + 1] - central[i]) / 3;  // Richardson extrapolation
    const auto spread = std::fabs(better[1] - better[0]);
    const bool agree = spread <= 1e-7L * std::fabs(better[1]) || spread <= 1e-11L;
    return agree ? static_cast<double>(better[1]) : NAN;
}

/// Sets the gradient of each infinite or NaN result to 0. Returns false if there are such results.
bool take_finite_results(const Gradient& gradient, const Operator& op, GradientCase& at)
{
    const auto found = fold_few(op, at.arrays, at.offsets);
    bool is_finite = true;
    for (std::size_t i = 0; i < gradient.of.size(); ++i) {
        const auto& values = found.at(gradient.of[i]);
        const auto factors = at.arrays.at(gradient.names[i]).as<double>();
        for (std::size_t k = 0; k < values.size(); ++k)
            if (!std::isfinite(values[k])) {
                factors[k] = 0;
                is_finite = false;
            }
    }
    return is_finite;
}

std::vector<std::string> numbers_of(const Array& array)
{
    std::vector<std::string> numbers;
    for (std::size_t i = 0; i < array.length(); ++i)
        if (array.type() == Type::f64)
            numbers.push_back(fmt::format("{}", array.as<double>()[i]));
        else
            numbers.push_back(
                fmt::format("{}", std::to_integer<int>(array.data()[i * size_bytes(array.type())])));
    return numbers;
}

}  // namespace

GradientFinding judge_gradient(const Operator& op, const std::string& parameter, int num_segments,
                               std::uint64_t seed, const Gradient* found)
{
    const auto wide = in_f64(op);
    const auto made = found != nullptr ? *found : gradient(wide, parameter);
    GradientFinding finding{op.name, parameter, made.means, 0, 0, {}};
    for (int segment = 0; segment < num_segments; ++segment) {
        auto at = gradient_case(wide, made, seed * 1000003 + static_cast<std::uint64_t>(segment),
                                segment % 2 == 0, 1);
        const bool is_finite = take_finite_results(made, wide, at);
        ArraysByName arrays;
        for (const auto& [name, array] : at.arrays)
            arrays[name] = array.lend();
        fold_few_in_turn(made.operators, arrays, at.offsets);
        const auto gradients = arrays.at(made.result).as<double>();
        double greatest = 0;
        for (const double value : gradients)
            greatest = std::isfinite(value) ? std::max(greatest, std::fabs(value)) : greatest;
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            const double difference = difference_at(wide, made, at, i);
            if (!std::isfinite(difference) || (!is_finite && !std::isfinite(gradients[i]))) {
                ++finding.num_corners;
                continue;
            }
            ++finding.num_points;
            const double allowed = 1e-6 * (std::fabs(difference) + 1e-3 * greatest) + 1e-10;
            if (std::fabs(gradients[i] - difference) <= allowed ||
                (finding.wrong && finding.wrong->segment.offsets.back() <= at.offsets.back()))
                continue;
            WrongGradient wrong{{at.offsets, {}}, i, gradients[i], difference};
            for (const auto& [name, array] : at.arrays)
                wrong.segment.arrays[name] = array.copy();
            finding.wrong = std::move(wrong);
        }
    }
    return finding;
}

std::string program_of(const GradientFinding& finding, const Operator& op)
{
    const auto& arrays = finding.wrong->segment.arrays;
    std::string text = "import numpy as np, segfold as sf\n";
    text += fmt::format("gradient = sf.gradient(sf.operator(\"\"\"{}\"\"\"), wrt=\"{}\")\n", print(op),
                        finding.parameter);
    text += "found = gradient(";
    for (const auto& [name, array] : arrays)
        text += fmt::format(
            "{}=np.array([{}], \"{}\"), ", name, fmt::join(numbers_of(array), ", "),
            array.type() == Type::boolean ? "bool"
            : array.type() == Type::f64
                ? "f8"
                : fmt::format("{}{}", is_signed_integer(array.type()) ? "i" : "u", size_bytes(array.type())));
    return text + fmt::format("offsets=np.array([0, {}]))\n", finding.wrong->segment.offsets.back());
}

std::string print(const GradientFinding& finding, const Operator& op)
{
    if (!finding.wrong)
        return fmt::format("gradient of {} by {}: {}; {} at {} points, {} corners left out\n", finding.op,
                           finding.parameter, finding.means,
                           finding.num_points > 0 ? "agrees with differences" : "compared",
                           finding.num_points, finding.num_corners);
    const auto& wrong = *finding.wrong;
    return fmt::format(
        "gradient of {} by {}: {}; wrong: by element {} of the segment below it is {}, and differences give "
        "{}\n{}",
        finding.op, finding.parameter, finding.means, wrong.element, wrong.gradient, wrong.difference,
        program_of(finding, op));
}

}  // namespace segfold
