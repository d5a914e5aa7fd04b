// Scalars, whose values come with the launch: one text serves all values, on every back end of the host.
// Wrong values are refused with a message.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "dsl/cpp/define.h"
#include "dsl/text/parser.h"
#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/laws/operator_laws.h"
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
    if (GetParam() == std::string_view("thrust") && !thrust_available(thrust_system()))
        GTEST_SKIP() << thrust_unavailable_reason(thrust_system());
    Session session({.backend = GetParam()});
    const auto op = standard_operator("count_above_f32");
    EXPECT_EQ(counts_above(session, op, 2.5F), (std::vector<std::int64_t>{2, 1, 0, 3}));
    EXPECT_EQ(counts_above(session, op, 5), (std::vector<std::int64_t>{0, 0, 0, 2}));
    EXPECT_EQ(counts_above(session, op, std::numeric_limits<float>::quiet_NaN()),
              (std::vector<std::int64_t>{0, 0, 0, 0}));
}

/// An operator that is not associative if k is negative.
Operator signed_sum()
{
    return parse_operator("signed",
                          "operator signed(x: f32, k: scalar i32) -> f32 {\n"
                          "  state { v: f32; k: i32 }\n"
                          "  lift { v = x; k = k }\n"
                          "  combine(a, b) { v = a.k < 0 ? a.v - b.v : a.v + b.v; k = a.k }\n"
                          "  finish v\n"
                          "}\n");
}

/// A fold relies on the laws that hold for its own scalars, no matter which scalars were folded before.
TEST(Scalar, LawsAreThoseOfTheRunsOwnValue)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    Session session({.backend = "simt"});
    const auto op = signed_sum();
    EXPECT_FALSE(session.laws(op).is_associative());
    for (const std::int32_t k : {-1, 4, 0, -1, 4}) {
        const auto folded = session.fold(op, {kValues, std::span(&k, 1)}, whole(), {.check = true});
        EXPECT_TRUE(folded.agrees()) << k;
        EXPECT_EQ(folded.values<float>()[0], k < 0 ? -30 : 36);
        EXPECT_EQ(folded.warnings().empty(), k >= 0) << k;
        const auto stage = folded.plan().substr(0, folded.plan().find(' '));
        if (k < 0) {
            EXPECT_EQ(stage, "thread_per_segment") << "folds in order";
        }
        const ScalarValues known = {FieldValue{Type::i32, static_cast<std::uint64_t>(k)}};
        EXPECT_EQ(session.laws(op, known).is_associative(), k >= 0) << k;
    }
    EXPECT_FALSE(session.laws(op).is_associative());
    const std::string kNothing = "nothing was thrown";
    // Slices and streams need associativity.
    for (const std::int32_t k : {4, -1}) {
        const std::vector<ArrayView> inputs = {kValues, std::span(&k, 1)};
        float sum = 0;
        const auto sliced = message_of(
            [&] { sum = session.fold(op, inputs, whole(), {.num_slices = 3}).values<float>()[0]; });
        EXPECT_EQ(sliced == kNothing, k >= 0) << sliced;
        EXPECT_EQ(sum, k < 0 ? 0 : 36);
        sum = 0;
        const auto streamed = message_of([&] {
            (void)fold_stream(session, op, {inputs[0], inputs[1]}, whole(), {},
                              [&](const Folded& part, std::int64_t) { sum = part.values<float>()[0]; });
        });
        EXPECT_EQ(streamed == kNothing, k >= 0) << streamed;
        EXPECT_EQ(sum, k < 0 ? 0 : 36);
    }
}

/// An identity that is neutral unless the scalar is negative.
TEST(Scalar, AStreamRefusesAnIdentityThatItsOwnScalarsRefuteAlone)
{
    if (!has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    Session session({.backend = "simt"});
    const auto op = parse_operator("widest",
                                   "operator widest(x: f32, tol: scalar i32) -> i32 {\n"
                                   "  state { n: i32 = 0; t: i32 = 0 }\n"
                                   "  lift { n = 1; t = tol }\n"
                                   "  combine(a, b) { n = a.n + b.n; t = max(a.t, b.t) }\n"
                                   "  finish t\n"
                                   "}\n");
    for (const std::int32_t tol : {5, -5}) {
        std::vector<std::int32_t> found;
        const auto text = message_of([&] {
            const auto streamed = fold_stream(session, op, {kValues, std::span(&tol, 1)}, offsets(kOffsets),
                                              {}, [&](const Folded& part, std::int64_t) {
                                                  for (const auto value : part.values<std::int32_t>())
                                                      found.push_back(value);
                                              });
            EXPECT_TRUE(streamed.warnings.empty());
        });
        if (tol > 0)
            EXPECT_EQ(found, (std::vector<std::int32_t>{5, 5, 0, 5})) << text;
        else
            EXPECT_NE(text.find("with tol = -5"), std::string::npos) << text;
    }
}

TEST(Scalar, AStreamShowsHowItsScalarsRefuteAssociativity)
{
    Session session({.backend = "reference"});
    const auto op = parse_operator("skewed",
                                   "operator skewed(x: i32, k: scalar i32) -> i32 {\n"
                                   "  state { v: i32; k: i32 }\n"
                                   "  lift { v = x; k = k }\n"
                                   "  combine(a, b) { v = a.k == 12345 ? a.v - b.v : a.v + b.v; k = a.k }\n"
                                   "  finish v\n"
                                   "}\n");
    const std::vector<std::int32_t> values = {3, 1, 4, 1};
    const std::int32_t k = 12345;
    const auto text = message_of([&] {
        fold_stream(session, op, {values, std::span(&k, 1)}, uniform(2), {},
                    [](const Folded&, std::int64_t) {});
    });
    EXPECT_NE(
        text.find("operator skewed is not associative, so that segments which slices cut would have other "
                  "results; fold it in one piece\n"
                  "combine is not associative with k = 12345:\n"
                  "    a = {v = "),
        std::string::npos)
        << text;
}

INSTANTIATE_TEST_SUITE_P(BackEnds, ScalarOn, testing::Values("simt", "reference", "thrust", "cpu"));

/// Counts calls of the compiler: CXX becomes a script that notes each call. A process keeps the compiler that
/// it has found, so the script stays until the process ends.
class CountedCompiler {
public:
    CountedCompiler() : known_(std::getenv("CXX") == nullptr ? "" : std::getenv("CXX"))
    {
        const auto script =
            folder().write("counted", "#!/bin/sh\necho call >> " + folder().file("calls") + "\nexec " +
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

    [[nodiscard]] std::ptrdiff_t calls() const { return noted() - before_; }

private:
    static TemporaryFolder& folder()
    {
        static TemporaryFolder kept;
        return kept;
    }

    static std::ptrdiff_t noted()
    {
        std::ifstream file(folder().file("calls"));
        return std::distance(std::istreambuf_iterator<char>(file), {});
    }

    std::string known_;
    std::ptrdiff_t before_ = noted();
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

/// The text relies on a law that the scalars of the plan did not refute.
TEST(Scalar, APlanRefusesValuesThatRefuteALawOfItsText)
{
    const auto odd = parse_operator("odd",
                                    "operator odd(x: f32, k: scalar i32) -> f32 {\n"
                                    "  state { v: f32 = 0; k: i32 = 0 }\n"
                                    "  lift { v = x; k = k }\n"
                                    "  combine(a, b) { v = a.k == 12345 ? a.v - b.v : a.v + b.v; k = b.k }\n"
                                    "  finish v\n"
                                    "}\n");
    Session session({.backend = "cpu", .assume = {Law::identity}});
    auto plan = session.plan(odd, offsets(kOffsets), 9);
    std::vector<float> results(4, -1);
    for (const int k : {3, 12344, 12345, 3}) {
        const auto told = message_of([&] {
            plan.run({kValues, std::span(&k, 1)}, offsets(kOffsets), {results});
        });
        if (k == 12345)
            EXPECT_EQ(told,
                      "the plan of odd relies on a law that does not hold with k = 12345: associative; "
                      "Session::fold() "
                      "judges the scalars of each run");
        else
            EXPECT_EQ(told, "nothing was thrown");
        EXPECT_EQ(results, (std::vector<float>{8, 6, 0, 22})) << "of the runs before";
    }
    const int k = 12345;
    const auto folded = session.fold(odd, {kValues, std::span(&k, 1)}, offsets(kOffsets));
    EXPECT_EQ(folded.values<float>()[1], 1 - 5) << "from left to right";
}

/// Other values refute append, so the text does not use it, even if these values would allow it.
TEST(Scalar, APlanDoesWithoutWhatOtherValuesRefute)
{
    const auto total = parse_operator("total",
                                      "operator total(x: f32, k: scalar i32) -> f32 {\n"
                                      "  state { v: f32 = 0 }\n"
                                      "  lift { v = x }\n"
                                      "  combine(a, b) { v = a.v + b.v }\n"
                                      "  append(a) { v = k < 0 ? a.v : a.v + x }\n"
                                      "}\n");
    Session session({.backend = "cpu"});
    auto plan = session.plan(total, offsets(kOffsets), 9);
    std::vector<float> results(4, -1);
    for (const int k : {3, -3, 5}) {
        plan.run({kValues, std::span(&k, 1)}, offsets(kOffsets), {results});
        EXPECT_EQ(results, (std::vector<float>{8, 6, 0, 22})) << k;
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
