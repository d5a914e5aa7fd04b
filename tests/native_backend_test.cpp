// The back end cpu as sessions and the program meet it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "dsl/parser.h"
#include "dsl/standard_operators.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/cpu/native_program.h"
#include "runtime/session/session.h"
#include "runtime/support/process.h"
#include "runtime/support/thread_pool.h"
#include "tests/cli_program.h"

namespace segfold::test {
namespace {

TEST(NativeBackend, IsTheDefaultWithoutAGpu)
{
    if (!cuda::devices().empty())
        GTEST_SKIP() << "there is a GPU";
    EXPECT_EQ(automatic_backend(), "cpu");
    EXPECT_EQ(automatic_backend({}, true), "simt");
    EXPECT_EQ(automatic_backend({.schedule_seed = 1}), "simt");
}

TEST(NativeBackend, PlansRunOnArraysOfTheHostInPlace)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    Session session({.backend = "cpu"});
    const auto op = standard_operator("sum_i64");
    const std::vector<std::int32_t> ends = {0, 2, 2, 5};
    std::vector<std::int64_t> values = {1, 2, 3, 4, 5}, totals(3, -1);
    auto plan = session.plan(op, offsets(ends), 5);
    EXPECT_NE(plan.source().find("extern \"C\" void fold_share"), std::string::npos);
    for (const std::int64_t factor : {1, 10}) {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = factor * static_cast<std::int64_t>(i + 1);
        const ArrayView input(values);
        const MutableArrayView result(totals);
        plan.run({&input, 1}, offsets(ends), {&result, 1});
        EXPECT_EQ(totals, (std::vector<std::int64_t>{3 * factor, 0, 12 * factor}));
    }
    auto copy = plan.copy();
    const std::vector<std::int32_t> more = {0, 1, 5};
    copy.resize(offsets(more), 5);
    std::vector<std::int64_t> two(2);
    const ArrayView input(values);
    const MutableArrayView result(two);
    copy.run({&input, 1}, offsets(more), {&result, 1});
    EXPECT_EQ(two, (std::vector<std::int64_t>{10, 140}));
}

TEST(NativeBackend, AReproduciblePlanGivesTheBitsOfTheGpusText)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto op = standard_operator("sum_f32");
    std::vector<float> values(20000);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1.0F / static_cast<float>(i + 1);
    const std::vector<std::int32_t> ends = {0, 7, 5000, 5000, 20000};
    FoldOptions options;
    options.plan.is_reproducible = true;
    std::vector<std::vector<float>> totals;
    for (const auto* backend : {"cpu", "simt"}) {
        Session session({.backend = backend});
        auto& total = totals.emplace_back(4);
        options.results = {MutableArrayView(total)};
        (void)session.fold(op, {ArrayView(values)}, offsets(ends), options);
    }
    EXPECT_EQ(std::memcmp(totals[0].data(), totals[1].data(), totals[0].size() * sizeof(float)), 0);
}

TEST(NativeBackend, ReadsOutsideOfATableAreRefused)
{
    if (const auto& reason = cpu::reason_without_compiler(); !reason.empty())
        GTEST_SKIP() << reason;
    const auto op = parse_operator(
        "gather.seg",
        "operator gather(at: i32, t: table i32) -> i32 { state s: i32 = 0  lift t[at]  combine(a, b) a + b  "
        "laws commutative }");
    Session session({.backend = "cpu"});
    std::vector<std::int32_t> at(100000), table(50, 2);
    for (std::size_t i = 0; i < at.size(); ++i)
        at[i] = static_cast<std::int32_t>(i % 50);
    EXPECT_EQ(session.fold(op, {at, table}, whole()).values<std::int32_t>()[0], 200000);
    for (const std::int32_t wrong : {50, -1}) {
        at[77777] = wrong;
        try {
            (void)session.fold(op, {at, table}, whole());
            ADD_FAILURE() << "no InputError for " << wrong;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("77777"), std::string::npos) << error.what();
        }
    }
}

TEST(NativeBackend, WithoutACompilerOperatorsAreInterpretedAndThatIsSaid)
{
    const auto result =
        run_process({"/usr/bin/env", "PATH=/nonexistent", "CXX=", SEGFOLD_PROGRAM, "run", "mean_variance",
                     "--backend", "cpu", "--layout", "geometric:mean=5", "--elements", "5000"});
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_NE(result.output.find("no C++ compiler"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("interpreted"), std::string::npos) << result.output;
}

TEST(ThreadPool, CallsEachPartOnce)
{
    ThreadPool pool(5);
    for (const std::int64_t count : {0, 1, 2, 4, 5, 6, 1000}) {
        std::vector<int> calls(static_cast<std::size_t>(count), 0);
        for (int loop = 0; loop < 50; ++loop)
            pool.run(count, [&](std::int64_t part) { ++calls[static_cast<std::size_t>(part)]; });
        EXPECT_EQ(std::count(calls.begin(), calls.end(), 50), count);
    }
}

}  // namespace
}  // namespace segfold::test
