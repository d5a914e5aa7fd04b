// Folds by plans that a session keeps: results and warnings equal those of a fold without a kept plan,
// whatever was folded before.
#include "runtime/session/kept/kept_plans.h"
#include "runtime/session/core.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "codegen/catalogue.h"
#include "dsl/text/parser.h"
#include "runtime/backends/cpu/module.h"
#include "runtime/backends/device_identity.h"
#include "runtime/session/choice/lookup.h"
#include "tests/common/files.h"
#include "tests/common/front_door.h"

namespace segfold::test::kept_plans_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class KeptPlans : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto reason = cpu::reason_without_compiler(); !reason.empty())
            GTEST_SKIP() << reason;
    }

    /// Folds three times: by a plan that is made or kept, without a kept plan, and by the plan that is now
    /// kept.
    void expect_the_same(const Operator& op, const std::vector<ArrayView>& inputs,
                         const SegmentsView& segments, const PlanRequest& request = {})
    {
        const FoldOptions options{request};
        const auto first = answer_of([&] { return session.fold(op, inputs, segments, options); });
        const auto anew = answer_of([&] { return core(session).fold_anew(op, inputs, segments, options); });
        const auto again = answer_of([&] { return session.fold(op, inputs, segments, options); });
        EXPECT_EQ(first, anew);
        EXPECT_EQ(again, anew);
    }

    [[nodiscard]] std::size_t num_kept(const Operator& op) { return core(session).plans_of(op)->size(); }

    Session session = session_on("cpu");
    /// False where data may refute the identity: a kept plan, which knows none, drops it, and rows may rank
    /// another stage first for the larger state.
    bool compares_plans = true;

private:
    /// Returns the bits of the results, and all warnings and errors.
    template <class Call>
    [[nodiscard]] std::string answer_of(Call call) const
    {
        std::string text;
        try {
            const auto folded = call();
            for (const auto& [name, array] : folded.results()) {
                text += name + ":";
                for (std::size_t i = 0; i < array.bytes(); ++i)
                    text += std::to_string(static_cast<int>(array.data()[i])) + " ";
            }
            text += "\n" + std::to_string(folded.num_segments());
            text += folded.results().keys ? " with keys of " + std::to_string(folded.results().keys->bytes())
                                          : "";
            text += "\n" + (compares_plans ? folded.plan() : "");
            for (const auto& warning : folded.warnings())
                text += "\n" + warning;
        } catch (const Error& error) {
            text = error.what();
        }
        return text;
    }
};

Operator with_body(const std::string& signature, const std::string& body)
{
    return parse_operator("own.seg", "operator " + signature + " { " + body + " }");
}

const std::string kSum = "state v: f32 = 0  lift x  combine(a, b) a + b  laws commutative";

TEST_F(KeptPlans, AllWaysToGiveSegments)
{
    const auto op = standard_operator("sum_i32");
    const std::vector<std::int64_t> wide = {0, 3, 5, 5, 9};
    const std::vector<int> lengths_of = {3, 2, 0, 4}, begins = {5, 0}, ends = {9, 3};
    const std::vector<std::uint8_t> flags_of = {1, 0, 0, 1, 0, 1, 0, 0, 0};
    const std::vector<std::int16_t> keys_of = {7, 7, 7, 2, 2, 9, 9, 9, 9};
    const std::vector<SegmentsView> ways = {
        whole(),       uniform(3),          uniform(1),           offsets(kOffsets),
        offsets(wide), lengths(lengths_of), ranges(begins, ends), flags(flags_of),
        keys(keys_of)};
    for (const auto& segments : ways)
        expect_the_same(op, {kValues}, segments);
    const auto kept = num_kept(op);
    EXPECT_GE(kept, 7U);
    for (const auto& segments : ways)
        (void)session.fold(op, {kValues}, segments);
    EXPECT_EQ(num_kept(op), kept);
}

TEST_F(KeptPlans, OtherSizesTakeProgramsThatAreThere)
{
    const auto op = with_body("own(x: f32) -> f32", kSum);
    const auto program_of = [&](const std::vector<float>& x, std::int64_t length) {
        const auto fold = std::make_shared<Fold>(
            Fold{core(session).plans_of(op), {x}, uniform(length), static_cast<std::int64_t>(x.size())});
        return core(session).plan_for(fold, [](std::int64_t, const auto& work) { work(); }).kept;
    };
    // The lengths lie on both sides of the ranks' borders, one after the other.
    const std::int64_t lengths_of[] = {1, 700, 3, 64, 2000};
    std::map<std::string, std::set<const std::string*>> programs;  // by what they are called
    for (int count = 1; count <= 12; ++count)
        for (const auto length : lengths_of) {
            const std::vector<float> x(static_cast<std::size_t>(count * length), 0.1F);
            expect_the_same(op, {x}, uniform(length));
            const auto& text = program_of(x, length)->text();
            programs[text].insert(&text);
        }
    EXPECT_GE(programs.size(), 2U);
    for (const auto& [text, made] : programs)
        EXPECT_EQ(made.size(), 1U) << text;
}

TEST_F(KeptPlans, OtherSizesHeedRecords)
{
    const TemporaryFolder folder;
    setenv("SEGFOLD_TUNING_DIR", folder.file("").c_str(), 1);
    const auto op = standard_operator("sum_f32");
    const Problem problem(op, SegmentForm::uniform);
    const auto& catalogue = Catalogue::native();
    const auto& stage = catalogue.stage("lane_scan");
    const Shape shape{4096, 64, 64, 1};
    const Point point{stage.name, configure(stage, {{"lane_items", 128}}, plan_facts(problem, shape))};
    const auto device = host_identity();
    RecordFile(record_path(folder.file(""), device))
        .append({device,
                 "",
                 "",
                 op.name,
                 operator_hash(op),
                 class_of(problem),
                 "uniform=64",
                 shape,
                 point,
                 stage_hash(stage, catalogue),
                 TuningPhase::chosen,
                 {MeasurementOutcome::correct, 0.1, {0.1, 0.1}, "", 1},
                 1 << 14,
                 "2026-11-22T04:33:35Z"});
    session.forget_records();
    const std::vector<float> x(1 << 17, 0.1F);
    std::string tuned;
    for (const std::size_t count : {std::size_t{1} << 17, std::size_t{4096}, std::size_t{8192}}) {
        const ArrayView some = std::span(x).first(count);
        expect_the_same(op, {some}, uniform(64));
        if (count == 4096)
            tuned = session.fold(op, {some}, uniform(64)).plan();
    }
    unsetenv("SEGFOLD_TUNING_DIR");
    EXPECT_NE(tuned.find("lane_items=128"), std::string::npos) << tuned;
    EXPECT_NE(tuned.find("tuning record"), std::string::npos) << tuned;
}

TEST_F(KeptPlans, OperatorsOfOneNameAreToldApart)
{
    const std::vector<float> x = {1, 2, 3, 4};
    const auto sum = with_body("own(x: f32) -> f32", kSum);
    expect_the_same(sum, {x}, uniform(2));
    expect_the_same(with_body("own(x: f32) -> f32", "state v: f32 = 1  lift x  combine(a, b) a * b"), {x},
                    uniform(2));
    const std::vector<int> words = {1, 2, 3, 4};
    expect_the_same(with_body("own(x: i32) -> i32", "state v: i32 = 0  lift x  combine(a, b) a + b"), {words},
                    uniform(2));
    EXPECT_EQ(num_kept(sum), 1U);
    EXPECT_EQ(num_kept(with_body("own(x: f32) -> f32", kSum)), 1U) << "the same text is the same operator";
}

TEST_F(KeptPlans, ARequestIsHeeded)
{
    const std::vector<float> x(1000, 0.1F);
    const auto op = with_body("own(x: f32) -> f32", kSum);
    PlanRequest stage, settings, reproducible, at_launch;
    stage.stage = settings.stage = "lane_scan";
    settings.settings = {{"lane_items", 32}};
    at_launch.numbers = Numbers::at_launch;
    for (const auto& request : {PlanRequest(), stage, settings, at_launch, PlanRequest()})
        expect_the_same(op, {x}, uniform(10), request);
    EXPECT_EQ(num_kept(op), 4U);
    PlanRequest unknown;
    unknown.stage = "no_such_stage";
    expect_the_same(op, {x}, uniform(10), unknown);
}

TEST_F(KeptPlans, InfinitiesAndNanAreSeen)
{
    // combine(identity, b) is 0 * b.w + b.s.
    const auto op =
        with_body("own_affine(x: f32) -> f32",
                  "state { w: f32 = 1; s: f32 = 0 }  lift { w = x; s = x }  combine(a, b) { w = a.w * "
                  "b.w; s = a.s * b.w + b.s }  finish s");
    const auto greatest = standard_operator("max_f32");
    std::vector<float> x(64);
    std::iota(x.begin(), x.end(), 0.0F);
    for (const float other : {0.5F, kInfinity, 1.5F, -kInfinity, kNan, 2.5F, kInfinity}) {
        x[16] = other;  // the first element of its segment, which is combined with the identity
        for (const auto* stage : {"lane_per_segment", "vector_per_segment", "lane_scan", "row_tree"}) {
            const PlanRequest request{.stage = stage};
            expect_the_same(greatest, {x}, uniform(8), request);
            expect_the_same(op, {x}, uniform(8), request);
        }
    }
}

/// lowest(f32) is neutral for a greatest value, except for -inf.
TEST_F(KeptPlans, AnIdentityThatInfinitiesAloneRefuteIsNotTriedEachTime)
{
    compares_plans = false;
    const auto op =
        with_body("own_spread(x: f32) -> f32",
                  "state { s: f32 = 0; m: f32 = lowest(f32) }  lift { s = x; m = x }  combine(a, b) { s "
                  "= a.s + b.s; m = max(a.m, b.m) }  finish s - m");
    std::vector<float> x(64);
    std::iota(x.begin(), x.end(), 0.0F);
    for (const float other : {0.5F, -kInfinity, 1.5F, kNan, kInfinity, 2.5F}) {
        x[16] = other;
        expect_the_same(op, {x}, uniform(8));
        const auto folded = session.fold(op, {x}, uniform(8));
        EXPECT_EQ(folded.warnings().size(), std::isfinite(other) ? 0U : 1U) << other;
        EXPECT_GT(num_kept(op), 0U);
        if (other == -kInfinity) {
            EXPECT_EQ(folded.values<float>()[2], -kInfinity) << "-inf + 17 + ... - 23";
        }
    }
    // A plan, which knows no data, takes a stage that needs no identity.
    auto plan = session.plan(op, uniform(8), 64);
    x[16] = -kInfinity;
    std::vector<float> found(8);
    plan.run({std::span<const float>(x)}, uniform(8), {std::span(found)});
    EXPECT_EQ(found[2], -kInfinity);
    EXPECT_EQ(found[3], 24 + 25 + 26 + 27 + 28 + 29 + 30 + 31 - 31);
}

TEST_F(KeptPlans, ScalarsThatRefuteALawAreSeen)
{
    const auto op =
        with_body("own_ema(x: f32, decay: scalar f32) -> f32",
                  "state { w: f32 = 1; s: f32 = 0 }  lift { w = decay; s = x }  combine(a, b) { w = a.w "
                  "* b.w; s = a.s * b.w + b.s }  finish s");
    const std::vector<float> x = {1, 2, 3, 4};
    for (const float decay : {0.5F, kInfinity, 0.25F, kNan, -kInfinity, 0.5F, 2.0F})
        expect_the_same(op, {x, ArrayView(std::span(&decay, 1))}, uniform(2));
    EXPECT_GE(num_kept(op), 1U);
}

TEST_F(KeptPlans, OverflowIsSeen)
{
    compares_plans = false;
    const auto op = parse_operator(
        "greatest.seg",
        "operator greatest(x: i32) -> i32 { state { total: i32 = 0; best: i32 = 0; prefix: i32 = 0; suffix: "
        "i32 = 0 } lift { let up = max(x, 0); total = x; best = up; prefix = up; suffix = up } combine(a, b) "
        "{ "
        "total = a.total + b.total; best = max(max(a.best, b.best), a.suffix + b.prefix); prefix = "
        "max(a.prefix, a.total + b.prefix); suffix = max(b.suffix, a.suffix + b.total) } finish best }");
    std::vector<int> small(1000), wide(1000);
    std::iota(small.begin(), small.end(), -500);
    for (std::size_t i = 0; i < wide.size(); ++i)
        wide[i] = (i % 2 == 0 ? 1 : -1) * (1 << 30);
    for (const auto* values : {&small, &wide, &small, &wide})
        for (const auto& segments : {whole(), uniform(500)})
            expect_the_same(op, {*values}, segments);
    EXPECT_GE(num_kept(op), 1U);
}

TEST_F(KeptPlans, WhatElementsHaveRefutedIsAskedOfLaterOnes)
{
    const auto op =
        with_body("own_modular(x: u32) -> u32",
                  "state { p: u32 = 1; q: u32 = 0 }  lift { p = x % 4294967295; q = 4294967295 }  "
                  "combine(a, b) { let k = max(a.q, b.q); q = k; p = (a.p * b.p) % k }  finish p");
    std::vector<std::uint32_t> refuting, fine(4000, 3);
    for (int i = 0; i < 1000; ++i)
        for (const std::uint32_t value : {1U, 2U, 2147483647U, 2147483649U})
            refuting.push_back(value);
    for (const auto* values : {&refuting, &fine, &refuting})
        expect_the_same(op, {*values}, uniform(4));
}

TEST_F(KeptPlans, TablesAreCheckedInEachFold)
{
    const auto op = with_body("own_gather(x: i32, t: table f32) -> f32",
                              "state v: f32 = 0  lift t[x]  combine(a, b) a + b  laws commutative");
    const std::vector<float> table = {1, 2, 4}, shorter = {1, 2};
    for (const auto& x : {std::vector<int>{0, 1, 2, 2}, {0, 1, 3, 2}, {0, -1, 2, 2}, {1, 1, 1, 1}})
        for (const auto* entries : {&table, &shorter})
            expect_the_same(op, {x, *entries}, uniform(2));
    EXPECT_EQ(num_kept(op), 1U);
}

TEST_F(KeptPlans, WhatIsWrongIsSaidAsByAFoldWithoutOne)
{
    const auto op = with_body("own(x: f32) -> f32", kSum);
    const auto semigroup = with_body("own_first(x: f32) -> f32", "state v: f32  lift x  combine(a, b) a");
    const std::vector<float> x = {1, 2, 3, 4};
    const std::vector<double> wide = {1, 2, 3, 4};
    const std::vector<int> falling = {0, 3, 2, 4}, late = {1, 4}, early = {0, 3}, empty = {0, 2, 2, 4};
    expect_the_same(op, {x}, uniform(2));
    expect_the_same(op, {wide}, uniform(2));
    expect_the_same(op, {x, x}, uniform(2));
    expect_the_same(op, {x}, uniform(3));
    expect_the_same(op, {x}, uniform(0));
    for (const auto* wrong : {&falling, &late, &early})
        expect_the_same(op, {x}, offsets(*wrong));
    expect_the_same(op, {x}, offsets(ArrayView{Type::i32, nullptr, 3}));
    expect_the_same(op, {ArrayView{Type::f32, nullptr, 4}}, uniform(2));
    expect_the_same(op, {rows_of(x, 2)}, uniform(2));
    expect_the_same(semigroup, {x}, offsets(empty));
    EXPECT_EQ(num_kept(op), 1U);
}

TEST_F(KeptPlans, ResultsGoWhereTheCallerHasThem)
{
    const auto op = with_body("own(x: f32) -> f32", kSum);
    std::vector<float> x = {1, 2, 3, 4}, longer(3, 9);
    for (int repeat = 0; repeat < 2; ++repeat) {
        (void)session.fold(op, {x}, uniform(2), {.results = {longer}});
        EXPECT_EQ(longer, (std::vector<float>{3, 7, 9}));
    }
    std::vector<std::int16_t> keys_of = {5, 5, 5, 8}, found(4);
    int count = 0;
    for (int repeat = 0; repeat < 2; ++repeat) {
        count = 0;
        const auto folded = session.fold(op, {x}, keys(keys_of, found, std::span(&count, 1)));
        EXPECT_EQ(count, 2);
        EXPECT_EQ(found[1], 8);
        EXPECT_EQ(folded.keys<std::int16_t>()[1], 8);
    }
    (void)session.fold(op, {x}, uniform(2), {.results = {x}});
    EXPECT_EQ(x, (std::vector<float>{3, 7, 3, 4})) << "one that is read may be written";
}

TEST_F(KeptPlans, FindingsMakePlansOld)
{
    const auto op = with_body("own(x: f32) -> f32", kSum);
    const std::vector<float> x = {1, 2, 3, 4};
    (void)session.fold(op, {x}, uniform(2));
    (void)session.fold(op, {x}, uniform(2));
    EXPECT_EQ(num_kept(op), 1U);
    session.forget_records();
    (void)session.fold(op, {x}, uniform(2));
    EXPECT_EQ(num_kept(op), 2U) << "a tuning may have found another one";
}

TEST_F(KeptPlans, SeveralThreadsFoldByOne)
{
    const auto op = with_body("own(x: f32) -> f32", kSum);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            const std::vector<float> x(100, static_cast<float>(t));
            for (int repeat = 0; repeat < 50; ++repeat)
                EXPECT_EQ(session.fold(op, {x}, uniform(50)).values<float>()[1],
                          50.0F * static_cast<float>(t));
        });
    for (auto& thread : threads)
        thread.join();
}

}  // namespace
}  // namespace segfold::test::kept_plans_test
