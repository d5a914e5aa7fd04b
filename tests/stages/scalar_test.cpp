// Values that come with the launch: one text for all of them, on every back end of the host, in words where
// they are wrong.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "dsl/cpp/define.h"
#include "segfold/segfold.h"
#include "tests/cli/cli_program.h"
#include "tests/common/message_of.h"

namespace segfold::test::scalar_test {
namespace {

const std::vector<float> kValues = {3, 1, 4, 1, 5, 9, 2, 6, 5};
const std::vector<int> kOffsets = {0, 3, 5, 5, 9};

std::vector<std::int64_t> counts_above(Session& session, const Operator& op, float threshold)
{
    const auto folded = session.fold(op, {kValues, std::span(&threshold, 1)}, offsets(kOffsets));
    const auto values = folded.values<std::int64_t>();
    return {values.begin(), values.end()};
}

class ScalarOn : public testing::TestWithParam<const char*> {};

TEST_P(ScalarOn, EveryValueIsTaken)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt and cpu need a C++ compiler";
    Session session({.backend = GetParam()});
    const auto op = standard_operator("count_above_f32");
    EXPECT_EQ(counts_above(session, op, 2.5F), (std::vector<std::int64_t>{2, 1, 0, 3}));
    EXPECT_EQ(counts_above(session, op, 5), (std::vector<std::int64_t>{0, 0, 0, 2}));
    EXPECT_EQ(counts_above(session, op, std::numeric_limits<float>::quiet_NaN()),
              (std::vector<std::int64_t>{0, 0, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(BackEnds, ScalarOn, testing::Values("simt", "reference", "thrust", "cpu"));

/// Calls of the compiler, which goes through a script that notes them.
class CountedCompiler {
public:
    CountedCompiler() : known_(std::getenv("CXX") == nullptr ? "" : std::getenv("CXX"))
    {
        const auto script =
            folder_.write("counted", "#!/bin/sh\necho call >> " + folder_.file("calls") + "\nexec " +
                                         (known_.empty() ? "c++" : known_) + " \"$@\"\n");
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
        setenv("CXX", script.c_str(), 1);
    }
    ~CountedCompiler()
    {
        if (known_.empty())
            unsetenv("CXX");
        else
            setenv("CXX", known_.c_str(), 1);
    }
    CountedCompiler(const CountedCompiler&) = delete;
    CountedCompiler& operator=(const CountedCompiler&) = delete;

    [[nodiscard]] std::ptrdiff_t calls() const
    {
        std::ifstream file(folder_.file("calls"));
        return std::distance(std::istreambuf_iterator<char>(file), {});
    }

private:
    std::string known_;
    TemporaryFolder folder_;
};

TEST(Scalar, AnotherValueCompilesNothing)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    for (const std::string backend : {"simt", "cpu"}) {
        const CountedCompiler compiler;
        Session session({.backend = backend});
        const auto op = standard_operator("count_above_f32");
        EXPECT_EQ(compiler.calls(), 0);
        EXPECT_EQ(counts_above(session, op, 2.5F), (std::vector<std::int64_t>{2, 1, 0, 3}));
        const auto first = compiler.calls();
        EXPECT_GT(first, 0) << backend;
        for (const float threshold : {0.5F, 1.0F, 8.0F, -7.0F})
            (void)counts_above(session, op, threshold);
        EXPECT_EQ(compiler.calls(), first) << backend << " compiles for another value";
        (void)session.fold(standard_operator("sum_power_f32"), {kValues, std::span(kValues).first(1)},
                           offsets(kOffsets));
        EXPECT_GT(compiler.calls(), first) << "another operator is compiled, so that calls are counted";
    }
}

TEST(Scalar, APlanTakesAnyValue)
{
    Session session({.backend = "reference"});
    auto plan = session.plan(standard_operator("count_above_f32"), offsets(kOffsets), 9);
    std::vector<std::int64_t> results(4);
    for (const auto& [threshold, total] : {std::pair(2.5F, 6), std::pair(5.0F, 2)}) {
        plan.run({kValues, std::span(&threshold, 1)}, offsets(kOffsets), {results});
        EXPECT_EQ(results[0] + results[1] + results[2] + results[3], total);
    }
    const std::vector<float> two = {1, 2};
    const std::vector<double> wide = {1};
    EXPECT_EQ(message_of([&] {
                  plan.run({kValues, two}, offsets(kOffsets), {results});
              }),
              "the elements of 'threshold' are 2; the plan is for 1");
    EXPECT_EQ(message_of([&] {
                  plan.run({kValues, wide}, offsets(kOffsets), {results});
              }),
              "the elements of 'threshold' are f64; the plan takes f32");
}

TEST(Scalar, AFoldTakesOneValue)
{
    Session session({.backend = "reference"});
    const std::vector<float> two = {1, 2};
    EXPECT_EQ(message_of([&] {
                  (void)session.fold(standard_operator("count_above_f32"), {kValues, two}, whole());
              }),
              "scalar 'threshold' has 2 values; give it one");
}

TEST(Scalar, HandlesOfCppFold)
{
    Session session({.backend = "reference"});
    const auto op = define("late", Field<std::int64_t>("n", 0), [](auto& op) {
        Column<float> delay(op, "delay");
        Scalar<float> threshold(op, "threshold");
        op.lift([&] { return cast<std::int64_t>(delay > threshold); });
        op.combine([](auto a, auto b) { return a + b; });
    });
    EXPECT_EQ(counts_above(session, op, 4.5F), (std::vector<std::int64_t>{0, 1, 0, 3}));
}

TEST(Scalar, OneThatTheProgramMakesUpIsTold)
{
    const ProgramFolder folder;
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(),
                     {"run", "count_above_f32", "--elements", "10", "--backend", "reference", "--json"});
        return nlohmann::json::parse(folder.run(words).output);
    };
    const auto made_up = run({});
    const std::string origin = made_up.at("inputs").at("threshold");
    EXPECT_TRUE(
        origin.ends_with(" (generated small_integers, seed 7; --scalar threshold=VALUE gives another)"))
        << origin;
    const auto given = run({"--scalar", "threshold=" + origin.substr(0, origin.find(' '))});
    EXPECT_EQ(given.at("results"), made_up.at("results"));
}

}  // namespace
}  // namespace segfold::test::scalar_test
