// Spot records: what was measured on a caller's arrays decides later where it cannot change bits, and where
// the caller asks for measuring again.
#include "runtime/session/choice/spot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/device_identity.h"
#include "runtime/session/choice/record_store.h"
#include "runtime/session/session.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::spot_records_test {
namespace {

class SpotRecordsTest : public testing::Test {
protected:
    SpotRecordsTest()
    {
        test::compile_briefly();
        setenv("SEGFOLD_TUNING_DIR", path().c_str(), 1);
        std::iota(ints.begin(), ints.end(), -1000);
        for (std::size_t i = 0; i < floats.size(); ++i)
            floats[i] = 1.0f / static_cast<float>(i + 1);
    }
    ~SpotRecordsTest() override { unsetenv("SEGFOLD_TUNING_DIR"); }

    [[nodiscard]] std::string path() const { return folder_.file("tuning"); }
    [[nodiscard]] std::string file() const { return record_path(path(), host_identity()); }
    [[nodiscard]] SegmentsView segments() const
    {
        return segfold::offsets({Type::i64, offsets.data(), std::ssize(offsets)});
    }
    [[nodiscard]] std::vector<ArrayView> inputs(const Operator& op) const
    {
        if (op.parameters[0].type == Type::f32)
            return {{Type::f32, floats.data(), std::ssize(floats)}};
        return {{Type::i32, ints.data(), std::ssize(ints)}};
    }

    /// A plan that measures `num_stages`, as a session of its own gives it.
    [[nodiscard]] Plan measured(const Operator& op, int num_stages = 3) const
    {
        Session session({.backend = "cpu"});
        auto plan = session.plan(op, segments(), std::ssize(ints), {{.measured_stages = num_stages}});
        plan.measure(inputs(op), segments(), nullptr, num_stages);
        return plan;
    }
    [[nodiscard]] Plan unmeasured(const Operator& op, const PlanRequest& request = {}) const
    {
        Session session({.backend = "cpu"});
        return session.plan(op, segments(), std::ssize(ints), {request});
    }

    [[nodiscard]] std::vector<TuningRecord> rows() const
    {
        return RecordStore::open(path(), true).spot_rows();
    }
    /// Rewrites the records so that `stage` took the least time, in `phase`.
    void make_fastest(const std::string& stage, TuningPhase phase = TuningPhase::spot) const
    {
        auto all = rows();
        std::filesystem::remove(file());
        RecordFile written(file());
        for (auto& row : all) {
            row.measurement.milliseconds = row.point.stage == stage ? 1 : 2;
            row.phase = phase;
            written.append(row);
        }
    }
    /// A measured stage other than that of the order.
    [[nodiscard]] std::string other_stage(const std::string& than) const
    {
        const auto all = rows();
        return std::ranges::find_if(all, [&](const auto& row) { return row.point.stage != than; })
            ->point.stage;
    }

    std::vector<std::int32_t> ints = std::vector<std::int32_t>(3000);
    std::vector<float> floats = std::vector<float>(3000);
    std::vector<std::int64_t> offsets = {0, 1, 1, 700, 2999, 3000};

private:
    TemporaryFolder folder_;
};

TEST_F(SpotRecordsTest, AMeasuredPlanKeepsARowOfEachStage)
{
    const auto plan = measured(standard_operator("sum_i32"));
    EXPECT_EQ(plan.chosen_by(), "measured here");
    const auto kept = rows();
    ASSERT_EQ(kept.size(), 3u);
    for (const auto& row : kept) {
        EXPECT_EQ(row.phase, TuningPhase::spot);
        EXPECT_EQ(row.measurement.outcome, MeasurementOutcome::correct);
        EXPECT_GT(row.measurement.milliseconds, 0);
        EXPECT_EQ(row.shape.longest, 2299);
        EXPECT_FALSE(row.compiler.empty());
    }
    const auto best =
        std::ranges::min_element(kept, {}, [](const auto& row) { return row.measurement.milliseconds; });
    EXPECT_EQ(best->point.stage, plan.stage());
    EXPECT_TRUE(RecordStore::open(path(), true).rows().empty()) << "tunings do not count them";
}

TEST_F(SpotRecordsTest, MeasuringAgainTakesTheRecord)
{
    for (const auto* name : {"sum_i32", "sum_f32"}) {
        const auto op = standard_operator(name);
        std::filesystem::remove(file());
        const auto order = unmeasured(op).stage();
        (void)measured(op);
        const auto other = other_stage(order);
        make_fastest(other);
        const auto again = measured(op);
        EXPECT_EQ(again.chosen_by(), "spot record") << name;
        EXPECT_EQ(again.stage(), other) << name;
        EXPECT_EQ(rows().size(), 3u) << "nothing was measured";
        EXPECT_EQ(measured(op, 2).chosen_by(), "spot record") << "two of three";
        EXPECT_EQ(measured(op, 4).chosen_by(), "measured here") << "a fourth stage has no row";
    }
}

/// A session sees what it has measured itself.
TEST_F(SpotRecordsTest, OneSessionMeasuresOnce)
{
    Session session({.backend = "cpu"});
    const auto op = standard_operator("sum_i32");
    for (const auto* by : {"measured here", "spot record"}) {
        auto plan = session.plan(op, segments(), std::ssize(ints), {{.measured_stages = 3}});
        plan.measure(inputs(op), segments());
        EXPECT_EQ(plan.chosen_by(), by);
        const auto stage = plan.stage();
        plan.measure(inputs(op), segments());
        EXPECT_EQ(plan.stage(), stage) << "a plan measures once";
    }
}

TEST_F(SpotRecordsTest, DecidesUnaskedOnlyWhereBitsStay)
{
    struct Case {
        const char* name;
        bool is_taken;
    };
    for (const auto& [name, is_taken] : {Case{"sum_i32", true}, Case{"first_i32", true},
                                         Case{"sum_f32", false}, Case{"mean_variance", false}}) {
        const auto op = standard_operator(name);
        std::filesystem::remove(file());
        const auto before = unmeasured(op);
        (void)measured(op);
        const auto other = other_stage(before.stage());
        make_fastest(other);
        const auto after = unmeasured(op);
        EXPECT_EQ(after.stage(), is_taken ? other : before.stage()) << name;
        EXPECT_EQ(after.chosen_by(), is_taken ? "spot record" : before.chosen_by()) << name;
        EXPECT_NE(unmeasured(op, {.is_reproducible = true}).chosen_by(), "spot record") << name;
        EXPECT_EQ(unmeasured(op, {.stage = "lane_per_segment"}).chosen_by(), "asked for") << name;
        Session deaf({.backend = "cpu", .asks_records = false});
        EXPECT_EQ(deaf.plan(op, segments(), std::ssize(ints)).stage(), before.stage()) << name;
    }
}

TEST_F(SpotRecordsTest, ATuningRecordGoesBeforeUnlessMeasuringIsAskedFor)
{
    const auto op = standard_operator("sum_i32");
    (void)measured(op);
    const auto all = rows();
    make_fastest(all[1].point.stage);
    auto tuned = all[2];
    tuned.phase = TuningPhase::chosen;
    RecordFile(file()).append(tuned);
    EXPECT_EQ(unmeasured(op).stage(), all[2].point.stage);
    EXPECT_EQ(unmeasured(op).chosen_by(), "tuning record");
    EXPECT_EQ(measured(op).stage(), all[1].point.stage);
    EXPECT_EQ(measured(op).chosen_by(), "spot record");
}

TEST_F(SpotRecordsTest, RowsOfOtherProblemsDoNotCount)
{
    const auto op = standard_operator("sum_i32");
    const auto order = unmeasured(op).stage();
    (void)measured(op);
    make_fastest(other_stage(order));
    Session session({.backend = "cpu"});
    EXPECT_EQ(session.plan(op, segments(), 3000).chosen_by(), "spot record");
    EXPECT_NE(session.plan(standard_operator("max_i32"), segments(), 3000).chosen_by(), "spot record");
    EXPECT_NE(session.plan(op, segments(), 3001).chosen_by(), "spot record");
    EXPECT_NE(session.plan(op, uniform(10), 3000).chosen_by(), "spot record");
    // A row of another text of the stage says nothing of this one.
    auto stale = rows();
    std::filesystem::remove(file());
    RecordFile written(file());
    for (auto& row : stale) {
        row.stage_hash = hash_text(row.stage_hash);
        written.append(row);
    }
    EXPECT_NE(unmeasured(op).chosen_by(), "spot record");
    EXPECT_EQ(measured(op).chosen_by(), "measured here");
}

TEST_F(SpotRecordsTest, FoldsMeasureToo)
{
    for (const auto* backend : {"cpu", "simt"})
        for (const auto* name : {"max_subarray_i32", "sum_f32"}) {
            const auto op = standard_operator(name);
            std::filesystem::remove_all(path());
            const auto fold = [&](int num_stages) {
                Session session({.backend = backend});
                return session.fold(op, inputs(op), segments(), {.plan = {.measured_stages = num_stages}});
            };
            const auto plain = fold(1), first = fold(3), again = fold(3);
            EXPECT_NE(first.plan().find("(measured here)"), std::string::npos) << first.plan();
            const bool is_kept = std::string(backend) == "cpu";  // the times of simt say nothing
            EXPECT_NE(again.plan().find(is_kept ? "(spot record)" : "(measured here)"), std::string::npos)
                << again.plan();
            EXPECT_EQ(rows().size(), is_kept ? 3u : 0u);
            if (op.parameters[0].type == Type::f32)
                continue;
            const auto wanted = plain.values<std::int64_t>();
            for (const auto* folded : {&first, &again})
                EXPECT_TRUE(std::ranges::equal(folded->values<std::int64_t>(), wanted)) << backend;
        }
}

TEST_F(SpotRecordsTest, PlansByKeysAndFlagsMeasure)
{
    std::vector<std::int32_t> keys(3000), found_keys(3000);
    std::vector<std::uint8_t> flags(3000);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i] = static_cast<std::int32_t>(i * i / 7000);
        flags[i] = i == 0 || keys[i] != keys[i - 1] ? 1 : 0;
    }
    const auto op = standard_operator("max_subarray_i32");
    for (const auto* backend : {"cpu", "simt"}) {
        Session session({.backend = backend});
        for (const auto& given : {segfold::keys({Type::i32, keys.data(), 3000}),
                                  segfold::flags({Type::u8, flags.data(), 3000})}) {
            const auto wanted = session.fold(op, inputs(op), given);
            std::int32_t num_found = -5;
            auto lent = given;
            lent.num_found = {Type::i32, &num_found, 1};
            if (given.kind == LayoutKind::keys)
                lent.found_keys = {Type::i32, found_keys.data(), 3000};
            auto plan = session.plan(op, lent, 3000, {{.measured_stages = 3}});
            plan.measure(inputs(op), lent);
            EXPECT_EQ(plan.chosen_by(), "measured here") << backend;
            EXPECT_EQ(num_found, -5) << "measuring writes nothing of the caller's";
            std::vector<std::int64_t> results(3000, 7);
            plan.run(inputs(op), lent, std::vector{MutableArrayView{Type::i64, results.data(), 3000}});
            ASSERT_EQ(num_found, wanted.num_segments()) << backend;
            results.resize(static_cast<std::size_t>(num_found));
            EXPECT_TRUE(std::ranges::equal(results, wanted.values<std::int64_t>())) << backend;
        }
    }
}

TEST_F(SpotRecordsTest, WhatCannotBeKeptFailsNothing)
{
    setenv("SEGFOLD_TUNING_DIR", "/proc/nowhere", 1);
    EXPECT_EQ(measured(standard_operator("sum_i32")).chosen_by(), "measured here");
}

TEST_F(SpotRecordsTest, SlicesAndMeasuringExcludeEachOther)
{
    Session session({.backend = "cpu"});
    const auto op = standard_operator("sum_i32");
    const auto fold = [&](FoldOptions options) {
        return test::message_of<InputError>([&] { (void)session.fold(op, inputs(op), segments(), options); });
    };
    EXPECT_EQ(fold({.plan = {.measured_stages = 3}, .num_slices = 2}),
              "stages are measured on a fold in one piece, and this one is cut into slices");
    EXPECT_EQ(fold({.plan = {.measured_stages = 0}}), "a plan measures 0 stages; it measures 1 or more");
}

TEST_F(SpotRecordsTest, AreForgotten)
{
    const auto op = standard_operator("sum_i32");
    (void)measured(op);
    RecordFile held(file());
    auto other = rows().front();
    other.op = "other";
    other.phase = TuningPhase::ranked;
    held.append(other);
    std::filesystem::copy_file(file(), path() + "/more.jsonl");
    std::ofstream(path() + "/more.jsonl", std::ios::app) << "no record";
    EXPECT_EQ(forget_records(path(), [](const auto& row) { return row.phase == TuningPhase::spot; }), 6u);
    EXPECT_TRUE(rows().empty());
    EXPECT_EQ(RecordStore::open(path(), true).rows().size(), 2u);
    EXPECT_EQ(RecordStore::open(path(), true).complaints().size(), 1u) << "what is no record stays";
    held.append(other);  // into the file that has taken the place of the open one
    EXPECT_EQ(RecordStore::open(path(), true).rows().size(), 3u);
    EXPECT_EQ(forget_records(path(), [](const auto&) { return true; }), 3u);
    EXPECT_EQ(forget_records(path(), [](const auto&) { return true; }), 0u);
    EXPECT_EQ(measured(op).chosen_by(), "measured here");
}

}  // namespace
}  // namespace segfold::spot_records_test
