// The data that a check and relations make: what a stage may stumble over must be among it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>

#include "dsl/derived.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/check/check_layouts.h"
#include "runtime/check/check_operator.h"
#include "runtime/check/elements_to_go_round.h"
#include "runtime/check/relations.h"
#include "runtime/check/smallest_configuration.h"
#include "runtime/data/shape.h"
#include "runtime/session/core.h"
#include "tests/common/skeleton_backend.h"

namespace segfold::check_shapes_test {
namespace {

/// What a run was given.
struct Seen {
    SegmentForm form;
    std::vector<std::int64_t> lengths;
    std::string stage;
    Configuration configuration, of_a_run, smallest;
    int launches, shifted_elements;
    bool is_poisoned;
    std::int64_t num_features;
    std::string text;
};

/// Folds by the reference and keeps what it was given.
class Watching : public test::SkeletonBackend {
public:
    explicit Watching(std::vector<Seen>& seen) : seen_(seen) {}

private:
    Results run_workload(const Workload& workload, const Emitted* text, const Circumstances& circumstances,
                         RunTimes&) override
    {
        Seen seen{workload.segments.form,
                  {},
                  text->stage,
                  text->configuration,
                  {},
                  {},
                  circumstances.launches,
                  circumstances.shifted_elements,
                  circumstances.scratch_poison.has_value(),
                  workload.num_features,
                  text->source};
        for (std::int64_t s = 0; s < workload.segments.num_segments; ++s)
            seen.lengths.push_back(workload.segments.length(s));
        const Problem problem(workload.op, workload.segments.form);
        const auto& stage = Catalogue::standard().stage(text->stage);
        seen.of_a_run = default_configuration(stage, plan_facts(problem, shape_of(workload)));
        seen.smallest = regress::smallest_configuration(stage, problem, {}, shape_of(workload));
        seen_.push_back(std::move(seen));
        return reduce_sequentially(workload);
    }

    std::vector<Seen>& seen_;
};

std::vector<Seen> seen_by_check(const Operator& op, const std::string& stage,
                                std::optional<std::int64_t> features = {})
{
    std::vector<Seen> all;
    Session session(std::make_unique<Watching>(all), {});
    regress::CheckRequest request;
    request.workload.standard_elements = 3100;
    if (features)
        request.workload.num_features = *features;
    request.layouts = regress::standard_layouts(op, 3100);
    request.stages = {&core(session).catalogue().stage(stage)};
    request.num_seeds = 2;
    request.proof.seconds = 0;
    EXPECT_TRUE(regress::check_operator(session, op, request).is_well());
    return all;
}

TEST(CheckShapes, EmptySegmentsStandAtBothEndsAndInRuns)
{
    const auto all = seen_by_check(standard_operator("sum_i32"), "tile_scan");
    for (const auto form : {SegmentForm::offsets, SegmentForm::ranges}) {
        const auto ends_empty = [&](const Seen& seen) {
            return seen.form == form && seen.lengths.back() == 0 && seen.lengths.front() == 0 &&
                   std::ranges::search_n(seen.lengths, 300, 0).size() == 300 &&
                   std::ranges::max(seen.lengths) > 3100 / 8;
        };
        EXPECT_TRUE(std::ranges::any_of(all, ends_empty)) << name(form);
    }
    for (const auto& seen : seen_by_check(standard_operator("keep_first_i32"), "warp_per_segment"))
        EXPECT_EQ(std::ranges::count(seen.lengths, 0), 0);
}

/// More segments end in a tile than a stage has room for.
TEST(CheckShapes, AnEighthOfTheElementsAreSegmentsOfTheirOwn)
{
    for (const auto* op : {"sum_i32", "keep_first_i32"}) {
        const auto all = seen_by_check(standard_operator(op), "warp_per_segment");
        EXPECT_TRUE(std::ranges::any_of(all, [](const Seen& seen) {
            return seen.form == SegmentForm::offsets &&
                   std::ranges::search_n(seen.lengths, 3100 / 10, 1).size() != 0;
        })) << op;
    }
}

TEST(CheckShapes, AHandfulOfElementsIsAmongThem)
{
    for (const auto& [op, stage, lengths] :
         {std::tuple<const char*, const char*, std::vector<std::int64_t>>{"sum_i32", "tile_scan", {3, 0, 1}},
          {"keep_first_i32", "warp_per_segment", {3, 1}},
          {"sum_i32", "run_stream", {3, 1}}}) {
        const auto all = seen_by_check(standard_operator(op), stage);
        const auto few = std::ranges::find(all, lengths, &Seen::lengths);
        ASSERT_NE(few, all.end()) << stage;
        EXPECT_EQ(few->configuration, few->smallest) << stage;
    }
}

/// Tables that are read by what segments decide: the layouts change lengths and numbers of segments.
TEST(CheckShapes, TablesAreLongEnoughForEveryLayout)
{
    for (const auto& [lift, rest] :
         std::vector<std::pair<std::string, std::string>>{{"i64(t[position])", ""},
                                                          {"i64(t[segment])", ""},
                                                          {"i64(x)", "map s + i64(t[length])"},
                                                          {"i64(x)", "map s + i64(t[position])"},
                                                          {"i64(x)", "map s + i64(t[segment])"}}) {
        const auto part = lift + " " + rest;
        const auto output = rest.starts_with("map") ? "each i64" : "i64";
        const auto op = parse_operator(
            "reads", fmt::format("operator reads(x: i32, t: table i32) -> {} {{ state s: i64 = 0 "
                                 "lift {} * i64(x) combine(a, b) a + b {} }}",
                                 output, lift, rest));
        for (const auto& layout : regress::standard_layouts(op, 3100))
            EXPECT_NO_THROW((void)regress::make_check_workload(op, {}, layout, 3100))
                << part << ", " << layout.name;
        EXPECT_FALSE(seen_by_check(op, "warp_per_segment").empty()) << part;
    }
}

/// Arrays begin where no vector does, and scratch memory holds nonsense, in some runs of each kind of form.
TEST(CheckShapes, WhatMustNotMatterIsDisturbed)
{
    for (const auto& [stage, forms] : {std::pair<const char*, std::vector<SegmentForm>>{
                                           "warp_per_segment", {SegmentForm::offsets, SegmentForm::ranges}},
                                       {"run_stream", {SegmentForm::keys}}}) {
        const auto all = seen_by_check(standard_operator("sum_i32"), stage);
        for (const auto form : forms)
            EXPECT_TRUE(std::ranges::any_of(
                all, [&](const Seen& seen) { return seen.form == form && seen.shifted_elements == 1; }))
                << stage << " over " << name(form);
        EXPECT_TRUE(std::ranges::any_of(all, [](const Seen& seen) { return seen.shifted_elements == 0; }));
    }
}

/// Rows that fill no vector, unless a length is asked for.
TEST(CheckShapes, SomeRowsHaveAnOddLength)
{
    const auto rows = parse_operator(
        "rows.seg", "operator rows(x: row u32) -> u32 { state s: u32 = 0 lift x combine(a, b) a + b }");
    const auto lengths = [](const std::vector<Seen>& all) {
        std::set<std::int64_t> found;
        for (const auto& seen : all)
            found.insert(seen.num_features);
        return found;
    };
    EXPECT_EQ(lengths(seen_by_check(rows, "row_stream")), (std::set<std::int64_t>{7, 8}));
    EXPECT_EQ(lengths(seen_by_check(rows, "row_stream", 12)), (std::set<std::int64_t>{12}));
}

/// Lanes that share no segment, as only the smallest plan has them, map ranges, too.
TEST(CheckShapes, OneStageHasItsUsualAndItsSmallestPlanOverRanges)
{
    const auto all = seen_by_check(standard_operator("sum_i32"), "group_per_segment");
    std::set<bool> is_smallest;
    for (const auto& seen : all)
        if (seen.form == SegmentForm::ranges) {
            EXPECT_TRUE(seen.configuration == seen.smallest || seen.configuration == seen.of_a_run);
            is_smallest.insert(seen.configuration == seen.smallest);
        }
    EXPECT_EQ(is_smallest.size(), 2U);
}

/// What older devices are given: no asynchronous copies, no conversions by an instruction. Of a stage that
/// they cannot run, no text for them is tried.
TEST(CheckShapes, ATextForTheOldestDevicesIsAmongThem)
{
    for (const auto& [stage, has_old] :
         {std::pair<const char*, bool>{"warp_stream", true}, {"tree_cluster", false}}) {
        std::vector<Seen> all;
        Session session(std::make_unique<Watching>(all), {});
        const auto op = standard_operator("sum_i32");
        regress::CheckRequest request;
        request.stages = {&core(session).catalogue().stage(stage)};
        request.proof.seconds = 0;
        regress::take_standard_data(request, op, core(session).catalogue(), core(session).backend());
        std::set<bool> are_old;
        std::size_t i = 0;
        for (const auto& outcome : regress::check_operator(session, op, request).matrix.outcomes) {
            if (outcome.stage == "thrust" || outcome.unmet)
                continue;
            EXPECT_EQ(outcome.compute_capability.value_or(75), 75);
            const bool is_old = outcome.compute_capability.has_value();
            are_old.insert(is_old);
            const bool copies = all.at(i++).text.find("cp.async") != std::string::npos;
            EXPECT_EQ(copies, has_old && !is_old) << outcome.layout;
        }
        EXPECT_EQ(are_old.contains(true), has_old) << stage;
        EXPECT_TRUE(are_old.contains(false)) << stage;
    }
}

TEST(CheckShapes, SegmentsOfOneLengthBeginAnywhereInVectors)
{
    const auto all = seen_by_check(standard_operator("sum_i32"), "block_per_segment");
    const auto uniform = std::ranges::find(all, SegmentForm::uniform, &Seen::form);
    ASSERT_NE(uniform, all.end());
    EXPECT_EQ(uniform->lengths.front(), 31);
    EXPECT_EQ(regress::standard_layouts(standard_operator("sum_i32"), 1 << 14)[1].name, "uniform=32");
}

/// A scan alone asks nothing of empty segments, with or without an identity.
TEST(CheckShapes, ScansOfSemigroupsMeetEmptySegments)
{
    const auto op = scanned(standard_operator("keep_first_i32"), {});
    ASSERT_FALSE(op.allows_empty());
    const auto all = seen_by_check(op, "running_tiles");
    const auto has_empties = [](const Seen& seen) { return std::ranges::count(seen.lengths, 0) > 300; };
    EXPECT_TRUE(std::ranges::any_of(all, has_empties));
    for (const auto& relation : regress::relations())
        if (relation.name == "empty_segments") {
            EXPECT_EQ(relation.objection(op), "");
        }
}

/// Scratch memory that kernels leave fit for the next launch is used twice.
TEST(CheckShapes, WhatALaunchLeavesServesAnother)
{
    for (const auto& seen : seen_by_check(standard_operator("sum_i32"), "grid_reduce"))
        EXPECT_EQ(seen.launches, 2);
    for (const auto& seen : seen_by_check(standard_operator("sum_i32"), "tile_scan"))
        EXPECT_EQ(seen.launches, 1);
}

/// Of two seeds a layout has the plan of a run once, which follows the shape and the length of rows.
TEST(CheckShapes, TheChosenPlanIsThatOfARun)
{
    const auto rows = parse_operator(
        "rows.seg", "operator rows(x: row u32) -> u32 { state s: u32 = 0 lift x combine(a, b) a + b }");
    for (const auto features : {3, 8, 64}) {
        const auto all = seen_by_check(rows, "row_groups", features);
        const auto count =
            std::ranges::count_if(all, [](const Seen& seen) { return seen.configuration == seen.of_a_run; });
        const auto layouts = regress::standard_layouts(rows, 3100);
        EXPECT_GE(count, std::ranges::count(layouts, false, &regress::CheckLayout::is_few)) << features;
    }
}

TEST(CheckShapes, LoopsGoRoundInTheSmallestPlans)
{
    const auto& catalogue = Catalogue::standard();
    const auto& tile_scan = catalogue.stage("tile_scan");
    Problem problem(standard_operator("sum_i32"), SegmentForm::offsets);
    const auto elements = regress::elements_to_go_round(tile_scan, problem, catalogue, 2048, 1 << 15);
    const auto emitted =
        emit(problem, tile_scan, regress::smallest_configuration(tile_scan, problem), catalogue);
    const auto launches = [&](std::int64_t n) {
        return plan_launches(emitted, {.num_elements = n, .num_segments = n / 16, .num_items = n}, 4)
            .launches;
    };
    EXPECT_LT(elements, 1 << 15);
    for (const auto& launch : launches(elements))
        EXPECT_GE(launch.grid, 2) << launch.kernel;
    EXPECT_EQ(regress::elements_to_go_round(tile_scan, problem, catalogue, 2048, 4096), 4096);
    const auto of_check =
        regress::elements_for(standard_operator("sum_i32"), tile_scan, catalogue, {}, 1 << 14, 3 << 13);
    EXPECT_GE(of_check, elements);
    EXPECT_EQ(of_check % (31 * 16), 0);
    EXPECT_LE(of_check, (3 << 13) + 31 * 16);
}

/// What a check of many stages gives each: a stage that needs few elements does not pay for one that needs
/// many.
TEST(CheckShapes, EachStageTakesElementsByItsOwnNeed)
{
    std::vector<Seen> all;
    Session session(std::make_unique<Watching>(all), {});
    const auto op = standard_operator("sum_i32");
    regress::CheckRequest request;
    for (const auto* name : {"tile_scan", "warp_per_segment"})
        request.stages.push_back(&core(session).catalogue().stage(name));
    request.proof.seconds = 0;
    regress::take_standard_data(request, op, core(session).catalogue(), core(session).backend());
    const auto check = regress::check_operator(session, op, request);
    EXPECT_TRUE(check.is_well());
    const auto is_few = [&](const regress::CheckOutcome& outcome) {
        return std::ranges::find(request.layouts, outcome.layout, &regress::CheckLayout::name)->is_few;
    };
    for (const auto& outcome : check.matrix.outcomes) {
        if (outcome.stage == "thrust" || outcome.unmet || is_few(outcome))
            continue;
        const auto& stage = core(session).catalogue().stage(outcome.stage);
        EXPECT_EQ(outcome.num_elements,
                  regress::elements_for(op, stage, core(session).catalogue(), {}, 1 << 14, 3 << 13))
            << outcome.stage << " over " << outcome.layout;
    }
    EXPECT_EQ(check.matrix.num_elements, request.elements[request.stages[0]]);
    EXPECT_GT(request.elements[request.stages[0]], request.elements[request.stages[1]]);
    // A number that is given is that of all but the layouts of a few.
    request.workload.num_elements = 3100;
    for (const auto& outcome : regress::check_operator(session, op, request).matrix.outcomes)
        EXPECT_EQ(outcome.num_elements, is_few(outcome) ? 4 : 3100)
            << outcome.stage << " over " << outcome.layout;
}

/// Loops that halve the threads of a block go round where the smallest and the usual plan leave them.
TEST(CheckShapes, TheNextPlanIsNeitherTheSmallestNorTheUsual)
{
    const auto& catalogue = Catalogue::standard();
    const Problem problem(standard_operator("sum_i32"), SegmentForm::offsets);
    const auto threads = [](const Configuration& configuration) { return configuration.at("block_threads"); };
    for (const auto& stage : catalogue.stages()) {
        const auto found = std::ranges::find(stage.tunables, "block_threads", &Tunable::name);
        if (found == stage.tunables.end() || catalogue.unmet(stage, problem))
            continue;
        const auto smallest = threads(regress::smallest_configuration(stage, problem));
        const auto usual = threads(default_configuration(stage, plan_facts(problem)));
        const auto next = threads(regress::next_configuration(stage, problem));
        EXPECT_NE(next, smallest) << stage.name;
        EXPECT_NE(next, usual) << stage.name;
        EXPECT_GE(std::max(usual, next), 128) << stage.name;
    }
}

/// A count in i16 wraps behind 32767 elements: stages that rely on the law would be blamed for what the
/// operator does.
TEST(CheckShapes, ALawThatTheElementsMayBreakByOverflowIsNotReliedOn)
{
    const auto op = parse_operator(
        "streak.seg",
        "operator streak(x: i32) -> i16 { state { n: i16 = 0; leading: i16 = 0; trailing: i16 = 0; longest: "
        "i16 = 0 } "
        "lift { let late = i16(x > -1000000); n = 1; leading = late; trailing = late; longest = late } "
        "combine(a, b) { n = a.n + b.n; leading = a.leading == a.n ? a.n + b.leading : a.leading; "
        "trailing = b.trailing == b.n ? a.trailing + b.n : b.trailing; "
        "longest = max(max(a.longest, b.longest), a.trailing + b.leading) } finish longest }");
    for (const std::int64_t num_elements : {20000, 40000}) {
        std::vector<Seen> all;
        Session session(std::make_unique<Watching>(all), {});
        regress::CheckRequest request;
        request.workload.standard_elements = num_elements;
        request.layouts = {{"whole", parse_layout("whole")}};
        request.stages = {&core(session).catalogue().stage("tile_scan"),
                          &core(session).catalogue().stage("thread_per_segment")};
        request.proof.seconds = 0;
        EXPECT_TRUE(regress::check_operator(session, op, request).is_well());
        EXPECT_TRUE(
            std::ranges::any_of(all, [](const Seen& seen) { return seen.stage == "thread_per_segment"; }));
        EXPECT_EQ(std::ranges::any_of(all, [](const Seen& seen) { return seen.stage == "tile_scan"; }),
                  num_elements < 32768);
    }
}

/// Relations take for each stage as many elements as it needs.
TEST(CheckShapes, RelationsFitTheirElementsToTheStage)
{
    std::vector<Seen> all;
    Watching backend(all);
    const auto& catalogue = Catalogue::standard();
    regress::RelationRequest request{
        .relations = {&regress::relation("empty_segments")},
        .stages = {&catalogue.stage("tile_scan"), &catalogue.stage("warp_per_segment")},
        .tiles = {regress::Tiles::smallest},
        .catalogue = catalogue,
        .num_elements = 2048,
        .most_elements = 1 << 15};
    const regress::NamedOperator sum{"sum_i32", standard_operator("sum_i32"), {}};
    const auto outcomes = regress::hold_relations(sum, request, backend);
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_TRUE(outcomes[0].held() && outcomes[1].held());
    EXPECT_GT(outcomes[0].num_elements, 1 << 14);
    EXPECT_LT(outcomes[1].num_elements, 1 << 14);
    EXPECT_TRUE(std::ranges::any_of(
        all, [](const Seen& seen) { return seen.lengths.front() == 0 && seen.lengths.back() == 0; }));
}

}  // namespace
}  // namespace segfold::check_shapes_test
