// Which plans a bench measures beside the one that a run takes.
#include "runtime/measure/bench/plans.h"

#include <gtest/gtest.h>

#include "dsl/text/standard_operators.h"
#include "runtime/laws/operator_laws.h"

namespace segfold::bench_plans_test {
namespace {

std::vector<bench::LadderPlan> plans_of(const bench::PlanSelection& selection)
{
    SessionOptions options;
    options.backend = "simt";
    Session session(options);
    const Problem problem(standard_operator("sum_f64"), SegmentForm::offsets);
    std::vector<std::string> warnings;
    return bench::ladder_plans(session, problem, {1 << 24, 1 << 19, 64}, {}, selection, warnings);
}

TEST(BenchPlans, NearOnesGiveWayWhereOthersHaveAnObjection)
{
    bench::PlanSelection selection;
    const std::map<std::string, int> settings = {
        {"items_per_thread", 32}, {"block_threads", 512}, {"held_totals", 1024}};
    selection.others = {{"warp_stream", "", settings}, {"warp_stream", "near", settings, true}};
    const auto plans = plans_of(selection);
    ASSERT_EQ(plans.size(), 3u);
    EXPECT_NE(plans[1].objection, "");
    EXPECT_EQ(plans[2].objection, "");
    EXPECT_EQ(plans[2].configuration.at("items_per_thread"), 32) << "which gives way last";
    EXPECT_LT(plans[2].configuration.at("block_threads"), 512) << "for which there is no room";
}

TEST(BenchPlans, MayBeThoseOfTheStagesThatRankFirst)
{
    bench::PlanSelection selection;
    const auto first = plans_of(selection).front().stage->name;
    ASSERT_NE(first, "tile_scan");
    selection.others = {{"tile_scan"}, {first}};
    EXPECT_EQ(plans_of(selection).size(), 3u);
    selection.first = 1;
    const auto plans = plans_of(selection);
    ASSERT_EQ(plans.size(), 2u) << "the plan of a run, and that of its stage";
    EXPECT_EQ(plans[1].stage->name, first);
}

}  // namespace
}  // namespace segfold::bench_plans_test
