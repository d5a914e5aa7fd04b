// Session on the host: folds and plans, every layout, borrowed arrays, messages of misuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

#include "runtime/scale/slices/sliced.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/choice/explanation.h"
#include "runtime/session/core.h"
#include "tests/common/front_door.h"

/// A caller's own 16-bit type.
struct OwnHalf {
    std::uint16_t bits;
    bool operator==(const OwnHalf&) const = default;
};
template <>
struct segfold::HalfElement<OwnHalf> {
    static constexpr Type type = Type::f16;
};

namespace segfold::test::session_test {
namespace {

std::vector<int> sums(const Folded& folded)
{
    const auto values = folded.values<int>();
    return {values.begin(), values.end()};
}

class OnHost : public testing::TestWithParam<const char*> {};

TEST_P(OnHost, EveryLayoutFolds)
{
    auto session = session_on(GetParam());
    const auto op = standard_operator("sum_i32");
    const std::vector<std::int64_t> wide = {0, 3, 5, 5, 9};
    const std::vector<int> lengths_of = {3, 2, 0, 4}, begins = {5, 0}, ends = {9, 3};
    const std::vector<std::uint8_t> flags_of = {1, 0, 0, 1, 0, 1, 0, 0, 0};
    const std::vector<std::int16_t> keys_of = {7, 7, 7, 2, 2, 9, 9, 9, 9};
    EXPECT_EQ(sums(session.fold(op, {kValues}, whole())), (std::vector{36}));
    EXPECT_EQ(sums(session.fold(op, {kValues}, uniform(3))), (std::vector{8, 15, 13}));
    EXPECT_EQ(sums(session.fold(op, {kValues}, offsets(kOffsets))), (std::vector{8, 6, 0, 22}));
    EXPECT_EQ(sums(session.fold(op, {kValues}, offsets(wide))), (std::vector{8, 6, 0, 22}));
    EXPECT_EQ(sums(session.fold(op, {kValues}, lengths(lengths_of))), (std::vector{8, 6, 0, 22}));
    EXPECT_EQ(sums(session.fold(op, {kValues}, ranges(begins, ends))), (std::vector{22, 8}));
    EXPECT_EQ(sums(session.fold(op, {kValues}, flags(flags_of))), (std::vector{8, 6, 22}));
    const auto by_key = session.fold(op, {kValues}, keys(keys_of));
    EXPECT_EQ(sums(by_key), (std::vector{8, 6, 22}));
    const auto runs = by_key.keys<std::int16_t>();
    EXPECT_EQ(std::vector<std::int16_t>(runs.begin(), runs.end()), (std::vector<std::int16_t>{7, 2, 9}));
}

TEST_P(OnHost, HalvesAreTheCallersOwnTypeOrTheirBits)
{
    auto session = session_on(GetParam());
    const std::vector<OwnHalf> values = {{0x3c00}, {0x4000}, {0x4200}};  // 1, 2, 3
    const std::vector<int> ends = {0, 2, 3};
    const auto sums = session.fold(standard_operator("sum_f16"), {values}, offsets(ends));
    const auto read = sums.values<OwnHalf>();
    EXPECT_EQ(std::vector(read.begin(), read.end()), (std::vector<OwnHalf>{{0x4200}, {0x4200}}));
    const auto bits = sums.values<std::uint16_t>();
    EXPECT_EQ(std::vector(bits.begin(), bits.end()), (std::vector<std::uint16_t>{0x4200, 0x4200}));
    EXPECT_EQ(message_of([&] { (void)sums.values<float>(); }),
              "the results hold f16; they were asked for as f32");
    std::vector<OwnHalf> results(2);
    session.plan(standard_operator("sum_f16"), offsets(ends), 3).run({values}, offsets(ends), {results});
    EXPECT_EQ(results, (std::vector<OwnHalf>{{0x4200}, {0x4200}}));
}

TEST_P(OnHost, PlansRunOnAnyArraysOfTheirSizes)
{
    auto session = session_on(GetParam());
    auto plan = session.plan(standard_operator("sum_i32"), offsets(kOffsets), 9);
    std::vector<int> results(4), others = kValues;
    plan.run({kValues}, offsets(kOffsets), {results});
    EXPECT_EQ(results, (std::vector{8, 6, 0, 22}));
    others[0] = 100;
    auto copy = plan.copy();
    copy.run({others}, offsets(kOffsets), {results});
    EXPECT_EQ(results, (std::vector{105, 6, 0, 22}));
    const std::vector<int> few = {0, 2, 4};
    plan.resize(offsets(few), 4);
    plan.run({std::span(kValues).first(4)}, offsets(few), {results});
    EXPECT_EQ(results, (std::vector{4, 5, 0, 22}));
}

INSTANTIATE_TEST_SUITE_P(Backends, OnHost, testing::Values("simt", "reference"));

TEST(Session, PlansOfMoreThanMemoryHoldsAreRefused)
{
    auto session = session_on("simt");
    const auto op = standard_operator("sum_i32");
    EXPECT_EQ(message_of([&] { (void)session.plan(op, uniform(1), std::int64_t{1} << 62); }),
              "the plan is for 4611686018427387904 elements; it can have 281474976710656 at most");
    PlanOptions options;
    options.num_features = 1 << 20;
    const auto rows = parse_operator(
        "test", "operator o(x: row i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }");
    EXPECT_EQ(message_of([&] { (void)session.plan(rows, whole(), std::int64_t{1} << 40, options); }),
              "the plan is for 1099511627776 elements of 1048576 features; it can have 268435456 at most");
}

TEST(Session, AChecksLinesAreGivenBack)
{
    auto session = session_on("simt");
    const auto folded =
        session.fold(standard_operator("sum_i32"), {kValues}, offsets(kOffsets), {.check = true});
    EXPECT_TRUE(folded.agrees());
    ASSERT_FALSE(folded.check().empty());
    EXPECT_EQ(folded.check().front(), "all 4 segments agree with the reference bit for bit");
    EXPECT_NE(folded.plan(), "");
}

TEST(Session, ACheckSaysOfWhatItCanSayNothing)
{
    auto session = session_on("simt");
    const auto op = parse_operator("ema.seg",
                                   "operator ema(x: f32, decay: scalar f32) -> f32 {\n"
                                   "  state { w: f32 = 1; s: f32 = 0 }  lift { w = decay; s = x }\n"
                                   "  combine(a, b) { w = a.w * b.w; s = a.s * b.w + b.s }  finish s\n"
                                   "}\n");
    std::vector<float> values(3000);
    values[1499] = 5;
    values[2999] = 1;
    for (const float decay : {2.0F, 0.5F}) {
        const auto folded = session.fold(op, {values, std::span(&decay, 1)}, uniform(1500), {.check = true});
        EXPECT_TRUE(folded.agrees());
        EXPECT_EQ(folded.num_overflowed(), decay == 2 ? 2 : 0);
        EXPECT_EQ(
            folded.overflow().starts_with("nothing can be said of segment 0 (elements 0 to 1499, length "
                                          "1500) and another one: result is nan, "),
            decay == 2)
            << folded.overflow();
    }
}

TEST(Session, ACheckSaysWhatItCannotJudge)
{
    auto session = session_on("simt");
    const auto op = parse_operator("squares.seg",
                                   "operator squares(x: f32) -> f32 { state s: f32 = 0  lift x * x\n"
                                   "  combine(a, b) a + b  finish s - 4096001024 }");
    // The exact sum of squares is 4096001000; the sum in f32 is 24 more.
    const std::vector<float> values(4096, 1000.0001F);
    const auto folded = session.fold(op, {values}, uniform(4096), {.check = true});
    EXPECT_TRUE(folded.agrees());
    EXPECT_EQ(folded.num_unjudged(), 1);
    EXPECT_TRUE(folded.unjudged().ends_with(": the data leave no digit")) << folded.unjudged();
}

TEST(Session, ResultsGoIntoTheCallersMemory)
{
    auto session = session_on("reference");
    std::vector<int> results(4, -1);
    FoldOptions options;
    options.results = {results};
    (void)session.fold(standard_operator("sum_i32"), {kValues}, offsets(kOffsets), options);
    EXPECT_EQ(results, (std::vector{8, 6, 0, 22}));
    results.resize(3);
    options.results = {results};
    EXPECT_EQ(message_of([&] {
                  (void)session.fold(standard_operator("sum_i32"), {kValues}, offsets(kOffsets), options);
              }),
              "the results of 'result' are 4 values, and the array for them has room for 3");
}

/// A loop over values of a destroyed Folded would read freed memory, so a temporary Folded returns a copy.
TEST(Session, ResultsOutliveAFoldWithoutAName)
{
    auto session = session_on("reference");
    const auto op = standard_operator("sum_i32");
    std::vector<int> seen;
    for (const int sum : session.fold(op, {kValues}, offsets(kOffsets)).values<int>())
        seen.push_back(sum);
    EXPECT_EQ(seen, (std::vector{8, 6, 0, 22}));
    const auto folded = session.fold(op, {kValues}, whole());
    static_assert(std::is_same_v<decltype(folded.values<int>()), std::span<const int>>);
    static_assert(std::is_same_v<decltype(session.fold(op, {}, whole()).values<int>()), std::vector<int>>);
    static_assert(std::is_same_v<decltype(session.fold(op, {}, whole()).keys<int>()), std::vector<int>>);
}

TEST(Session, ArraysOfEveryKindAreLent)
{
    auto session = session_on("reference");
    const auto op = standard_operator("sum_i32");
    const std::array<int, 3> fixed = {1, 2, 4};
    const int plain[] = {1, 2, 4};
    const int bounds[] = {0, 1, 3};
    std::array<int, 2> sums_of_fixed{};
    int sums_of_plain[2] = {};
    FoldOptions options;
    options.results = {sums_of_fixed};
    (void)session.fold(op, {fixed}, offsets(bounds), options);
    options.results = {sums_of_plain};
    (void)session.fold(op, {plain}, offsets(bounds), options);
    EXPECT_EQ(sums_of_fixed, (std::array{1, 6}));
    EXPECT_EQ(std::to_array(sums_of_plain), (std::array{1, 6}));
    EXPECT_EQ(sums(session.fold(op, {std::span(plain).first(2)}, whole())), (std::vector{3}));
}

TEST(Session, MisuseIsRefusedInWords)
{
    auto session = session_on("reference");
    const auto op = standard_operator("sum_i32");
    const std::vector<float> floats(9);
    const auto refused = [&](std::initializer_list<ArrayView> inputs, const SegmentsView& segments) {
        return message_of([&] { (void)session.fold(op, inputs, segments); });
    };
    EXPECT_EQ(refused({}, whole()), "operator sum takes 1 array (x), and 0 are given");
    EXPECT_EQ(refused({on_device<int>(nullptr, 9)}, whole()),
              "the elements of 'x' lie on a device; fold takes arrays of the host: make a plan for those of "
              "a device");
    EXPECT_EQ(refused({ArrayView(Type::i32, nullptr, 9)}, whole()),
              "the elements of 'x' have 9 elements and no address");
    EXPECT_NE(refused({floats}, whole()).find("f32"), std::string::npos);
    const auto folded = session.fold(op, {kValues}, whole());
    EXPECT_EQ(message_of([&] { (void)folded.values<float>(); }),
              "the results hold i32; they were asked for as f32");
    EXPECT_EQ(message_of([&] { (void)folded.values<int>("sum"); }),
              "the results have result; none is called 'sum'");
    EXPECT_EQ(message_of([&] { (void)folded.keys<int>(); }),
              "the segments were not given by keys, so that there are none");
    auto plan = session.plan(op, offsets(kOffsets), 9);
    std::vector<int> results(4);
    std::vector<float> wrong(4);
    const std::vector<int> fewer = {0, 9};
    EXPECT_EQ(message_of([&] { plan.run({std::span(kValues).first(8)}, offsets(kOffsets), {results}); }),
              "the elements of 'x' are 8; the plan is for 9");
    EXPECT_EQ(message_of([&] { plan.run({kValues}, offsets(kOffsets), {wrong}); }),
              "the results of 'result' are f32; the plan takes i32");
    EXPECT_EQ(
        message_of([&] { plan.run({kValues}, offsets(fewer), {results}); }),
        "the plan of sum is for 9 elements in 4 segments by offsets, and is given 1 segment by offsets; "
        "resize() takes others");
    EXPECT_EQ(
        message_of([&] { plan.run({kValues}, uniform(3), {results}); }),
        "the plan of sum is for 9 elements in 4 segments by offsets, and is given 3 segments of 3; make "
        "another plan");
    EXPECT_EQ(message_of([&] { plan.run({kValues}, whole(), {results}); }),
              "the plan of sum is for 9 elements in 4 segments by offsets, and is given one segment; make "
              "another plan");
    EXPECT_EQ(message_of([&] { plan.resize(whole(), 9); }),
              "the plan of sum is for segments by offsets, and resize() is given one segment; it takes other "
              "numbers of elements and segments, so make another plan");
    EXPECT_EQ(message_of([&] { plan.require_sizes(offsets(kOffsets), 8); }),
              "the plan of sum is for 9 elements in 4 segments by offsets, and is given 8 elements in 4 "
              "segments by offsets; resize() takes others");
    EXPECT_NO_THROW(plan.require_sizes(offsets(kOffsets), 9));
}

TEST(Session, ARefutedLawIsAnExceptionWithTheCounterExample)
{
    auto session = session_on("simt");
    const auto op =
        parse_operator("test", "operator o(x: i32) -> i32 { state s: i32 = 1 lift x combine(a, b) a + b }");
    const auto message = message_of([&] { (void)session.fold(op, {kValues}, offsets(kOffsets)); });
    EXPECT_NE(message.find("states an identity that is none"), std::string::npos) << message;
    EXPECT_NE(message.find("combine"), std::string::npos) << message;
}

/// Messages to callers of the library name the library's options. Both kinds are compared as a whole.
TEST(Session, WaysToRelyOnARefutedLawAreTheCallersOwn)
{
    const auto op = parse_operator("worst.seg",
                                   "operator worst(x: i32) -> i32 {\n  state m: i32 = 0\n"
                                   "  lift x\n"
                                   "  combine(a, b) min(a, b)\n"
                                   "}\n");
    const std::string found =
        "the identity is not neutral:\n"
        "    identity = 0\n"
        "    combine(identity, a) = 0\n"
        "    a = 1\n";
    auto session = session_on("simt");
    EXPECT_EQ(message_of([&] { (void)session.fold(op, {kValues}, whole()); }),
              "worst.seg:2:9: operator worst states an identity that is none, and every stage relies on it\n"
              "      state m: i32 = 0\n"
              "            ^\n" +
                  found +
                  "leave the identity out (then 'empty' says what the result of an empty segment is), state "
                  "another one (what an element adds goes into lift, what a result starts with into finish), "
                  "or rely on it all the same with SessionOptions::assume = {Law::identity}");
    SessionOptions assuming;
    assuming.backend = "simt";
    assuming.assume = {Law::identity};
    Session trusting(assuming);
    const auto folded = trusting.fold(op, {kValues}, offsets(kOffsets));
    ASSERT_EQ(folded.warnings().size(), 1U);
    EXPECT_EQ(
        folded.warnings()[0] + "\n",
        "operator worst is refuted to have an identity, and relied on because of SessionOptions::assume = "
        "{Law::identity}\n" +
            found);
}

TEST(Session, FoldsAndPlansHaveTheWarningsOfTheText)
{
    const auto op = parse_operator("gaps.seg",
                                   "operator gaps(x: f32) -> i32 {\n"
                                   "  state n: i32 = 0\n"
                                   "  lift x == nan ? 1 : 0\n"
                                   "  combine(a, b) a + b\n"
                                   "}\n");
    const std::vector<std::string> warnings = {
        "gaps.seg:3:10: 'x == nan' is always false: NaN compares unequal to everything, to itself too; "
        "write isnan(x)\n"
        "      lift x == nan ? 1 : 0\n"
        "             ^^"};
    const std::vector<float> values = {1, 2, 3};
    auto session = session_on("reference");
    EXPECT_EQ(session.fold(op, {values}, whole()).warnings(), warnings);
    auto simt = session_on("simt");
    EXPECT_EQ(simt.plan(op, whole(), 3).warnings(), warnings);
}

TEST(Session, OneSessionServesManyThreads)
{
    auto session = session_on("simt");
    std::vector<std::thread> threads;
    std::vector<std::vector<int>> results(8);
    for (std::size_t i = 0; i < results.size(); ++i)
        threads.emplace_back([&, i] {
            std::vector<int> values = kValues;
            values[0] = static_cast<int>(i);
            results[i] = sums(session.fold(standard_operator("sum_i32"), {values}, offsets(kOffsets)));
        });
    for (auto& thread : threads)
        thread.join();
    for (std::size_t i = 0; i < results.size(); ++i)
        EXPECT_EQ(results[i], (std::vector{5 + static_cast<int>(i), 6, 0, 22}));
}

TEST(Session, ArraysAreBorrowedNotCopied)
{
    const std::vector<float> values(1000);
    const auto array = Array::borrow(Type::f32, values.data(), values.size());
    EXPECT_EQ(static_cast<const void*>(array.data()), values.data());
    EXPECT_EQ(array.copy().bytes(), array.bytes());
    EXPECT_NE(static_cast<const void*>(array.copy().data()), values.data());
}

TEST(Session, APlanSaysWhatItIs)
{
    auto session = session_on("simt");
    const auto plan = session.plan(standard_operator("sum_f32"), offsets(kOffsets), 9);
    EXPECT_NE(plan.stage(), "");
    EXPECT_NE(plan.source().find("extern \"C\" __global__"), std::string::npos);
    ASSERT_FALSE(plan.explain().empty());
    EXPECT_EQ(plan.explain().front().first, "plan");
    EXPECT_EQ(plan.scratch_bytes(), 0);
}

/// A plan for ranges on the host is chosen by the items in the ranges, not by the number of elements.
TEST(Session, APlanOverRangesCountsWhatTheyHold)
{
    SessionOptions options;
    options.backend = "cpu";
    Session session(options);
    const auto op = standard_operator("sum_f64");
    constexpr std::int64_t kWindows = 2000;
    const auto plan_of = [&](std::int64_t length, bool has_data) {
        std::vector<std::int64_t> begins(kWindows), ends(kWindows);
        for (std::int64_t i = 0; i < kWindows; ++i) {
            begins[static_cast<std::size_t>(i)] = i;
            ends[static_cast<std::size_t>(i)] = i + length;
        }
        auto segments = ranges(begins, ends);
        if (!has_data)
            segments.first.data = segments.second.data = nullptr;
        auto plan = session.plan(op, segments, kWindows + length);
        if (has_data) {
            const std::vector<double> ones(static_cast<std::size_t>(kWindows + length), 1);
            std::vector<double> sums(kWindows);
            plan.run({ones}, segments, {sums});
            EXPECT_EQ(sums[7], static_cast<double>(length));
        }
        return plan.stage();
    };
    EXPECT_EQ(plan_of(300, true), "vector_per_segment");
    EXPECT_EQ(plan_of(1, true), "lane_per_segment");
    EXPECT_EQ(plan_of(300, false), "lane_per_segment") << "as if each element were held once";
}

/// lean_stream makes offsets of flags in scratch memory; run_stream needs almost none.
TEST(Session, ScratchMemoryThatDoesNotFitIsPassedOver)
{
    auto session = session_on("simt");
    const auto op = standard_operator("sum_i8");
    const auto laws = session.laws(op);
    const auto problem = make_problem(op, SegmentForm::flags, 32, laws);
    constexpr std::int64_t kElements = 1 << 27;
    const Shape shape{kElements, kElements / 64};
    std::int64_t free_bytes = 0;
    ScratchRoom room{[&] { return free_bytes; }, {kElements, shape.num_segments, kElements}};
    const auto choose = [&](const PlanRequest& request) {
        return choose_plan(request, problem, shape, laws, core(session).catalogue(), nullptr, &room);
    };
    free_bytes = std::int64_t{1} << 40;
    const auto roomy = choose({});
    ASSERT_EQ(roomy.stage->name, "lean_stream");
    EXPECT_EQ(roomy.chosen_by(), "measured rows");
    const auto needed = std::to_string(scratch_bytes_of(roomy.emitted, room.sizes, room.num_multiprocessors));

    free_bytes = std::int64_t{64} << 20;
    const std::string lacks =
        "lean_stream needs " + needed + " bytes of scratch memory, and 67108864 are free on the device";
    const auto next = choose({});
    EXPECT_EQ(next.stage->name, "run_stream");
    EXPECT_EQ(next.chosen_by(), "next best: " + lacks);
    const auto asked = message_of([&] { (void)choose({.stage = "lean_stream"}); });
    EXPECT_TRUE(asked.starts_with(lacks + "; run_stream ")) << asked;
    EXPECT_EQ(asked.substr(asked.rfind(' ') + 1),
              std::to_string(scratch_bytes_of(next.emitted, room.sizes, room.num_multiprocessors)));
    EXPECT_TRUE(message_of([&] {
                    (void)choose({.is_reproducible = true});
                }).ends_with("are free on the device; another stage would fold in another order"));
    room.lying = SegmentForm::uniform;  // a form that no text for flags takes
    EXPECT_EQ(message_of([&] { (void)choose({}); }),
              lacks + "; no stage that can serve fits; fold fewer elements at a time");

    room.lying.reset();
    free_bytes = -1;
    EXPECT_EQ(choose({}).stage->name, "lean_stream");
}

/// A resized plan keeps its program, and says which one a new plan would have.
TEST(Session, AResizedPlanSaysWhatANewOneWouldTake)
{
    auto session = session_on("simt");
    const auto op = standard_operator("sum_f32");
    const auto fact = [](const Plan& of, const std::string& name) {
        for (const auto& [key, value] : of.explain())
            if (key == name)
                return value;
        return std::string();
    };
    auto plan = session.plan(op, uniform(4), 2000);
    const auto stage = plan.stage();
    const auto taken = fact(plan, "plan");
    EXPECT_EQ(fact(plan, "resized"), "");
    plan.resize(uniform(4), 4000);
    EXPECT_EQ(fact(plan, "resized"),
              "to 4000 elements in 1000 segments; the stage was chosen for 2000 elements in 500 segments and "
              "stays; a new plan would take the same");
    plan.resize(uniform(1 << 20), 1 << 20);
    const auto fresh = session.plan(op, uniform(1 << 20), 1 << 20);
    ASSERT_NE(fresh.stage(), stage);
    EXPECT_EQ(plan.stage(), stage);
    EXPECT_EQ(fact(plan, "plan"), taken);
    EXPECT_EQ(fact(plan, "resized"),
              "to 1048576 elements in 1 segment; the stage was chosen for 2000 elements in 500 segments and "
              "stays; a new plan would take " +
                  fact(fresh, "plan"));
    for (const auto* same : {"rule of thumb", "expected", "bytes"})
        EXPECT_EQ(fact(plan, same), fact(fresh, same));
    EXPECT_EQ(fact(plan.copy(), "resized"), fact(plan, "resized"));
    plan.resize(uniform(4), 2000);
    EXPECT_EQ(fact(plan, "resized"), "");
}

/// The plan's stage comes from a folder that the session has read. The plan must keep the stage alive.
TEST(Session, APlanOutlivesASessionWithStagesOfItsOwn)
{
    const auto op = standard_operator("sum_i32");
    std::optional<Plan> plan;
    Chosen chosen;
    FoldRun sliced;
    {
        SessionOptions options;
        options.backend = "simt";
        options.kernels = SEGFOLD_SOURCE_DIR "/runtime/examples/kernels";
        Session session(options);
        const PlanRequest request{.stage = "one_by_one"};
        plan.emplace(session.plan(op, offsets(kOffsets), 9, {.request = request}));
        const auto workload = borrow_workload(op, std::vector<ArrayView>{kValues}, offsets(kOffsets));
        chosen = core(session).choose(workload, request);
        sliced = core(session).fold(workload, {2, request});
    }
    // Takes the memory of the destroyed catalogue.
    const auto others = Catalogue::overlaid(SEGFOLD_SOURCE_DIR "/runtime/examples/kernels");
    EXPECT_EQ(plan->stage(), "one_by_one");
    EXPECT_EQ(chosen.plan->stage->name, "one_by_one");
    EXPECT_EQ(sliced.chosen.plan->stage->title, others.stage("one_by_one").title);
    auto copy = plan->copy();
    plan.reset();
    std::vector<int> sums(4);
    copy.run({kValues}, offsets(kOffsets), {sums});
    EXPECT_EQ(sums, (std::vector{8, 6, 0, 22}));
    copy.resize(offsets(std::vector<int>{0, 9}), 9);
    const auto facts = copy.explain();  // explain() chooses among the session's stages again
    EXPECT_EQ(std::ranges::count(facts, "resized", &std::pair<std::string, std::string>::first), 1);
}

}  // namespace
}  // namespace segfold::test::session_test
