// The order of stages that is grown from measured rows: its text, and what it asks.
#include "codegen/order/stage_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "codegen/catalogue.h"
#include "codegen/facts.h"
#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/operator.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/message_of.h"

namespace segfold::stage_order_test {
namespace {

// Places among the facts, and what stands for an unknown number.
constexpr std::size_t kMap = 5, kRowBytes = 6, kForm = 14, kElements = 15;
constexpr int kUnknown = -9999;

/// Facts of a fold of columns in one segment, else all 0.
OrderFacts nothing()
{
    OrderFacts facts{};
    facts[kRowBytes] = kUnknown;
    return facts;
}

double share(const std::string& text, const OrderFacts& facts)
{
    return StageOrder(text).expected_share("s", facts).value();
}

TEST(StageOrder, WalksATreeByWholeNumbers)
{
    // a <= 3 ? (c <= -2 ? -10 : -20) : (b <= 7 ? -30 : -40)
    const std::string text = "# a comment\nstage s -100 uniform\na3c-2-10-20b7-30-40\n";
    OrderFacts facts = nothing();
    const auto at = [&](int a, int b, int c) {
        facts[0] = a;
        facts[1] = b;
        facts[2] = c;
        return std::lround(1000 * std::log(share(text, facts)));
    };
    EXPECT_EQ(at(3, 0, -2), -110);
    EXPECT_EQ(at(3, 0, -1), -120);
    EXPECT_EQ(at(4, 7, -2), -130);
    EXPECT_EQ(at(4, 8, 5), -140);
}

TEST(StageOrder, AddsTreesOfStagesAndFormsThatRowsHave)
{
    EXPECT_NEAR(share("stage s -100 uniform\n-50\n-150\n", nothing()), std::exp(-0.3), 1e-12);
    EXPECT_NEAR(share("stage s -100 uniform\n+250\n", nothing()), std::exp(0.15), 1e-12);
    const StageOrder order("stage s -100 uniform keys\n-50\n");
    EXPECT_FALSE(order.expected_share("t", nothing()));
    OrderFacts facts{};
    facts[kForm] = 2;
    facts[kRowBytes] = kUnknown;
    EXPECT_FALSE(order.expected_share("s", facts)) << "no row has flags";
    facts[kForm] = 3;
    EXPECT_TRUE(order.expected_share("s", facts));
    EXPECT_EQ(as_offsets(facts)[kForm], 1);
    facts[kMap] = 1;
    EXPECT_TRUE(order.expected_share("s", facts)) << "as a fold: no row has write-back";
    EXPECT_TRUE(StageOrder("stage s -100 keys+map\n-50\n").expected_share("s", facts));
    facts[kRowBytes] = 32;
    EXPECT_TRUE(StageOrder("stage s -100 keys+map+rows\n-50\n").expected_share("s", facts));
    EXPECT_FALSE(StageOrder("stage s -100 keys\n-50\n").expected_share("s", facts)) << "no row has features";
}

TEST(StageOrder, TellsHowManyRowsADeviceHas)
{
    const StageOrder order("rows 12 NVIDIA H100\nrows 300000 NVIDIA H200\nstage s -1 uniform\n+0\n");
    EXPECT_EQ(order.rows(), (std::map<std::string, int>{{"NVIDIA H100", 12}, {"NVIDIA H200", 300000}}));
    EXPECT_GT(StageOrder::standard().rows().at("NVIDIA H200"), 2000);
}

TEST(StageOrder, NamesTheNearestWorkloadThatTheCatalogueMayRun)
{
    // One workload of 2^10 elements and one of 2^20, of which another back end has the best stage.
    const auto line = [](int elements, const std::string& text) {
        auto facts = nothing();
        facts[kElements] = elements;
        std::string all = "near";
        for (const auto fact : facts)
            all += " " + std::to_string(fact);
        return all + " " + text + "\n";
    };
    const StageOrder order(line(160, "sum_f32 uniform, 1024 elements in 1 segments, GPU: s 1.00, t 0.50") +
                           line(320, "sum_f32 uniform, 1048576 elements in 1 segments, CPU: u 1.00"));
    auto facts = nothing();
    facts[kElements] = 300;
    const auto all = [](std::string_view) { return true; };
    EXPECT_TRUE(order.nearest(facts, all).ends_with("CPU: u 1.00"));
    EXPECT_TRUE(order.nearest(facts, [](std::string_view stage) { return stage == "s"; })
                    .ends_with("GPU: s 1.00, t 0.50"));
    facts[kForm] = 1;
    EXPECT_EQ(order.nearest(facts, all), "") << "no workload by offsets";
}

TEST(StageOrder, SaysWhereItsTextIsWrong)
{
    const auto message = [](const std::string& text) {
        return test::message_of<SpecError>([&] { return StageOrder(text); });
    };
    EXPECT_EQ(message("-50\n"), "kernels/ranks/order.txt:1: a tree stands before the first stage");
    EXPECT_EQ(message("stage s -1 uniform\na3-10\n"),
              "kernels/ranks/order.txt:2: the tree does not end with its word");
    EXPECT_EQ(message("stage s -1 uniform\na3-10-20+5\n"),
              "kernels/ranks/order.txt:2: the tree ends before its word does");
    EXPECT_EQ(message("stage s -1 uniform\nC3-10-20\n"),
              "kernels/ranks/order.txt:2: 'C' is neither a fact nor the sign of a leaf");
    EXPECT_EQ(message("stage s 1 rows\n"), "kernels/ranks/order.txt:1: 'rows' is no kind of work");
    EXPECT_EQ(message("stage s x\n"), "kernels/ranks/order.txt:1: 'x' begins with no number of 16 bits");
    EXPECT_EQ(message("stage s 1 uniform\na40000+1+2\n"),
              "kernels/ranks/order.txt:2: '40000+1+' begins with no number of 16 bits");
}

OrderFacts facts_of(SegmentForm form, const Shape& shape, const std::string& op = "sum_f32")
{
    return order_facts(plan_facts(Problem(standard_operator(op), form), shape));
}

TEST(StageOrder, AsksLogarithmsInSixteenthsOfAnOctave)
{
    // 2^20 elements in 2^10 segments; the longest is four times the mean; padding makes it one half more.
    const auto facts = facts_of(SegmentForm::offsets, {1 << 20, 1 << 10, 1 << 12, 0, 3 << 19});
    EXPECT_EQ(facts,
              (OrderFacts{32, 32,  0,   1,   0,  0,    kUnknown, 0, 0,   0,   0,   1,   0,   32,
                          1,  320, 160, 160, 32, -128, 9,        0, 352, 192, 192, 192, 192, kUnknown}));
    EXPECT_EQ(facts_of(SegmentForm::ranges, {1 << 20, 1 << 10, 1 << 12, 0, 3 << 19}), facts);
    const auto equal = facts_of(SegmentForm::uniform, {1000 * 999, 1000, 999});
    EXPECT_EQ(equal[kForm], 0);
    EXPECT_EQ(equal[kElements + 6], 4) << "bytes at which rows of 999 numbers of f32 are aligned";
    EXPECT_EQ(facts_of(SegmentForm::uniform, {1000 * 999, 1000, 0, 0, 0}), equal) << "known by form";
    EXPECT_EQ(facts_of(SegmentForm::uniform, {1000 * 999, 1000, 999, 0, 1000 * 999}), equal);
    EXPECT_EQ(facts_of(SegmentForm::whole, {1 << 20, 1, 1 << 20}),
              facts_of(SegmentForm::uniform, {1 << 20, 1, 1 << 20}));
    EXPECT_EQ(facts_of(SegmentForm::flags, {})[kElements], 16 * 24) << "unknown sizes";
    EXPECT_EQ(facts_of(SegmentForm::keys, {})[kElements + 2], 16 * 6);
}

/// Folds and write-back, of columns and of rows of features.
TEST(StageOrder, RanksEveryStageButThoseOfGroupsAndScans)
{
    const auto row_softmax =
        parse_operator("row_softmax.seg", R"(operator row_softmax(x: row f32) -> each f32 {
  state { greatest: f32 = -inf; sum: f32 = 0 }
  lift { greatest = x; sum = 1 }
  combine(a, b) { greatest = max(a.greatest, b.greatest); sum = a.sum + b.sum }
  map x / sum
})");
    std::set<std::string> seen;
    for (const auto* catalogue : {&Catalogue::standard(), &Catalogue::native()})
        for (const auto& stage : catalogue->stages())
            for (const auto& op : {standard_operator("sum_f32"), standard_operator("softmax_f32"),
                                   without_outputs(row_softmax), row_softmax})
                for (const auto form : {SegmentForm::offsets, SegmentForm::uniform, SegmentForm::flags}) {
                    const Problem problem(op, form);
                    const auto facts = plan_facts(problem, {1 << 20, 1 << 15, 64, 4});
                    const bool takes = std::ranges::find(stage.forms, form) != stage.forms.end();
                    const bool is_of_host_rows = catalogue == &Catalogue::native() && has_rows(op);
                    if (stage.is_rung || !takes || is_of_host_rows ||
                        !catalogue->serves(stage, problem, facts))
                        continue;
                    EXPECT_TRUE(StageOrder::standard().expected_share(stage.name, order_facts(facts)))
                        << stage.name << " " << op.name << " " << name(form);
                    EXPECT_FALSE(stage.suits) << stage.name << ": rows rank it";
                    seen.insert(stage.name);
                }
    EXPECT_TRUE(seen.contains("fused_row_groups") && seen.contains("fused_blocks") &&
                seen.contains("row_stream") && seen.contains("lane_scan"));
    EXPECT_FALSE(StageOrder::standard().expected_share("warp_stream", facts_of(SegmentForm::keys, {})))
        << "no row has keys, which it reads as offsets";
    const auto ranked = Catalogue::standard().ranked(
        plan_facts(Problem(standard_operator("sum_f32"), SegmentForm::whole), {1 << 28, 1, 1 << 28}),
        Problem(standard_operator("sum_f32"), SegmentForm::whole));
    EXPECT_EQ(ranked.front().stage->name, "grid_reduce");
    EXPECT_GT(*ranked.front().expected_share, 0.9);
}

}  // namespace
}  // namespace segfold::stage_order_test
