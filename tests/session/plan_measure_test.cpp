// Plan::measure(): a plan takes the fastest of the first stages on the caller's arrays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/session/plan_state.h"
#include "runtime/session/session.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::plan_measure_test {
namespace {

/// The value that explain() gives under `name`; empty if there is none.
std::string told(const Plan& plan, const std::string& name)
{
    for (const auto& [key, value] : plan.explain())
        if (key == name)
            return value;
    return "";
}

struct Numbers {
    std::vector<std::int32_t> values = std::vector<std::int32_t>(3000);
    std::vector<std::int64_t> offsets = {0, 1, 1, 700, 2999, 3000};

    Numbers() { std::iota(values.begin(), values.end(), -1000); }
    [[nodiscard]] ArrayView input() const { return {Type::i32, values.data(), std::ssize(values)}; }
    [[nodiscard]] SegmentsView segments() const
    {
        return segfold::offsets({Type::i64, offsets.data(), std::ssize(offsets)});
    }
};

/// No test reads or writes the user's records.
class PlanMeasure : public testing::Test {
protected:
    PlanMeasure() { setenv("SEGFOLD_TUNING_DIR", path().c_str(), 1); }
    ~PlanMeasure() override { unsetenv("SEGFOLD_TUNING_DIR"); }
    [[nodiscard]] std::string path() const { return folder_.file("tuning"); }

private:
    TemporaryFolder folder_;
};

TEST_F(PlanMeasure, KeepsOneOfTheFirstStagesAndItsResults)
{
    const Numbers numbers;
    for (const auto* backend : {"cpu", "simt"})
        for (const int measured_stages : {1, 3}) {
            std::filesystem::remove_all(path());
            Session session({.backend = backend});
            const auto op = standard_operator("max_subarray_i32");
            PlanOptions options;
            options.request.measured_stages = measured_stages;
            auto plan = session.plan(op, numbers.segments(), std::ssize(numbers.values), options);
            const auto first = plan.stage();
            const auto expected = session.fold(op, {numbers.input()}, numbers.segments());
            plan.measure(std::vector{numbers.input()}, numbers.segments());
            const auto taken = told(plan, "plan");
            EXPECT_NE(taken.find(", measured here: " + first + " "), std::string::npos) << taken;
            EXPECT_EQ(std::ranges::count(taken, ','), 3) << "three stages: " << taken;
            EXPECT_NE(taken.find(plan.stage() + " "), std::string::npos) << taken;
            std::vector<std::int64_t> results(5, 7);
            plan.run({numbers.input()}, numbers.segments(), {{Type::i64, results.data(), 5}});
            const auto wanted = expected.values<std::int64_t>();
            EXPECT_TRUE(std::ranges::equal(results, wanted)) << backend;
        }
}

/// More stages may be compiled than are timed, or none timed at all.
TEST_F(PlanMeasure, TimesNoMoreStagesThanItIsAskedFor)
{
    const Numbers numbers;
    Session session({.backend = "cpu"});
    const auto op = standard_operator("max_subarray_i32");
    PlanOptions options;
    options.request.measured_stages = 3;
    auto plan = session.plan(op, numbers.segments(), std::ssize(numbers.values), options);
    EXPECT_EQ(told(plan, "plan").find("measured here"), std::string::npos);
    plan.measure(std::vector{numbers.input()}, numbers.segments(), nullptr, 2);
    const auto taken = told(plan, "plan");
    EXPECT_EQ(std::ranges::count(taken, ','), 2) << "two stages: " << taken;
}

/// A giant among short segments is served by other stages, and only the arrays tell of it.
TEST_F(PlanMeasure, KnowsTheLongestSegment)
{
    std::vector<std::int32_t> lengths(1 << 15, 16), begins, ends;
    lengths[1000] = 1 << 19;
    std::vector<std::int32_t> offsets = {0};
    for (const auto length : lengths) {
        begins.push_back(offsets.back());
        offsets.push_back(offsets.back() + length);
        ends.push_back(offsets.back());
    }
    const auto view = [](const std::vector<std::int32_t>& values) {
        return ArrayView{Type::i32, values.data(), std::ssize(values)};
    };
    const auto by_offsets = segfold::offsets(view(offsets)), by_lengths = segfold::lengths(view(lengths)),
               by_ranges = segfold::ranges(view(begins), view(ends));
    for (const auto& segments : {by_offsets, by_lengths, by_ranges})
        EXPECT_EQ(longest_of(segments, nullptr), 1 << 19);
    EXPECT_EQ(longest_of(uniform(4), nullptr), 0);
    Session session({.backend = "simt"});
    const auto explained = [&](int measured_stages, std::int64_t longest) {
        PlanOptions options;
        options.request.measured_stages = measured_stages;
        options.longest = longest;
        return session.plan(standard_operator("sum_f32"), by_offsets, offsets.back(), options).explain();
    };
    EXPECT_EQ(explained(2, 0), explained(1, 1 << 19));
    EXPECT_NE(explained(2, 0), explained(1, 0)) << "the order expects other shares of stages";
}

TEST_F(PlanMeasure, LeavesAPlanThatWasAskedFor)
{
    const Numbers numbers;
    Session session({.backend = "cpu"});
    const auto op = standard_operator("sum_i32");
    PlanOptions options;
    options.request.stage = "lane_per_segment";
    auto plan = session.plan(op, numbers.segments(), std::ssize(numbers.values), options);
    const auto before = plan.explain();
    plan.measure(std::vector{numbers.input()}, numbers.segments());
    EXPECT_EQ(plan.explain(), before);
    EXPECT_EQ(test::message_of<InputError>(
                  [&] { plan.measure(std::vector{numbers.input()}, numbers.segments(), nullptr, 0); }),
              "a plan measures 0 stages; it measures 1 or more");
}

TEST_F(PlanMeasure, ChangesNoArrayOfTheCaller)
{
    const Numbers numbers;
    const auto before = numbers.values;
    Session session({.backend = "cpu"});
    const auto op = parse_operator("centred.seg",
                                   "operator centred(x: i32) -> each i32 { state s: i32 = 0 lift x "
                                   "combine(a, b) a + b map x - s laws commutative }");
    auto plan = session.plan(op, numbers.segments(), std::ssize(numbers.values));
    plan.measure(std::vector{numbers.input()}, numbers.segments());
    EXPECT_EQ(numbers.values, before);
    std::vector<std::int32_t> centred(3000);
    plan.run({numbers.input()}, numbers.segments(), {{Type::i32, centred.data(), 3000}});
    const auto sum = std::accumulate(before.begin() + 700, before.begin() + 2999, std::int32_t{0});
    EXPECT_EQ(centred[700], before[700] - sum);
    EXPECT_EQ(centred[0], 0);
}

TEST_F(PlanMeasure, ThrowsWhatARunThrows)
{
    const Numbers numbers;
    Session session({.backend = "cpu"});
    auto plan = session.plan(standard_operator("sum_i32"), numbers.segments(), std::ssize(numbers.values));
    EXPECT_EQ(
        test::message_of<InputError>([&] {
            plan.measure(std::vector{ArrayView{Type::i32, numbers.values.data(), 10}}, numbers.segments());
        }),
        "the elements of 'x' are 10; the plan is for 3000");
}

}  // namespace
}  // namespace segfold::plan_measure_test
