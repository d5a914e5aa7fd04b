// Gradients on back ends with stages: each operator of a gradient in turn, beside the evaluator in wide
// precision.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dsl/rewrite/gradient/gradient_trial.h"
#include "tests/cli/cli_program.h"
#include "tests/common/front_door.h"

namespace segfold::test::gradient_backends_test {
namespace {

/// Runs the operators through a session, and returns the gradient.
std::vector<float> gradient_in(Session& session, const Gradient& gradient, const GradientCase& given)
{
    ArraysByName arrays;
    for (const auto& [name, array] : given.arrays)
        arrays[name] = array.lend();
    for (const auto& op : gradient.operators) {
        std::vector<ArrayView> views;
        for (const auto& parameter : op.parameters) {
            const auto& array = arrays.at(parameter.name);
            views.emplace_back(array.type(), array.data(), static_cast<std::int64_t>(array.length()));
        }
        const auto folded = session.fold(op, views, offsets(given.offsets));
        for (const auto& [name, array] : folded.results())
            arrays[name] = array.copy();
    }
    const auto found = arrays.at(gradient.result).as<float>();
    return {found.begin(), found.end()};
}

class GradientOn : public testing::TestWithParam<const char*> {};

TEST_P(GradientOn, AgreesWithTheEvaluator)
{
    if (!has_compiler())
        GTEST_SKIP() << GetParam() << " needs a C++ compiler";
    auto session = session_on(GetParam());
    for (const std::string name :
         {"weighted_mean", "log_sum_exp", "max", "product", "softmax", "keep_first"}) {
        const auto op = standard_operator(name, Type::f32);
        const auto made = gradient(op, "x");
        const auto given = gradient_case(op, made, 5, true, 40);
        ArraysByName arrays;
        for (const auto& [array_name, array] : given.arrays)
            arrays[array_name] = array.lend();
        fold_few_in_turn(made.operators, arrays, given.offsets);
        const auto wanted = arrays.at(made.result).as<float>();
        const auto found = gradient_in(session, made, given);
        ASSERT_EQ(found.size(), wanted.size()) << name;
        for (std::size_t i = 0; i < found.size(); ++i)
            if (!std::isnan(wanted[i]) || !std::isnan(found[i])) {  // both are where a segment's sum is
                EXPECT_NEAR(found[i], wanted[i], 1e-5 * (1 + std::fabs(wanted[i])))
                    << name << ", element " << i;
            }
    }
}

INSTANTIATE_TEST_SUITE_P(, GradientOn, testing::Values("cpu", "simt", "reference"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace segfold::test::gradient_backends_test
