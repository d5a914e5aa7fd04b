// The program with refuted laws: wrong identities, infinite data, --assume.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "runtime/data/formats/npy.h"
#include "tests/cli/cli_program.h"
#include "tests/common/small_workloads.h"

namespace segfold::cli_laws_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Kadane's greatest sum of one or more neighbours. `low` is the greatest sum of no elements.
std::string kadane(const std::string& low)
{
    return "operator kadane(x: i32) -> i32 {\n"
           "  state {\n"
           "    best: i32 = " +
           low +
           ";\n"
           "    front: i32 = " +
           low +
           ";\n"
           "    back: i32 = " +
           low +
           ";\n"
           "    total: i32 = 0\n"
           "  }\n"
           "  lift { best = x; front = x; back = x; total = x }\n"
           "  combine(a, b) {\n"
           "    best = max(max(a.best, b.best), a.back + b.front);\n"
           "    front = max(a.front, a.total + b.front);\n"
           "    back = max(b.back, a.back + b.total);\n"
           "    total = a.total + b.total\n"
           "  }\n"
           "  finish best\n"
           "}\n";
}

class LawsOfRunTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!test::has_compiler())
            GTEST_SKIP() << "simt needs a C++ compiler";
        (void)folder_.write("kadane.seg", kadane("lowest(i32)"));
        (void)folder_.write("half.seg", kadane("lowest(i32) / 2"));
        (void)folder_.write("kahan.seg",
                            "operator kahan(x: f32) -> f32 {\n"
                            "  state { sum: f32 = 0; low: f32 = 0 }\n"
                            "  lift { sum = x; low = 0 }\n"
                            "  combine(a, b) {\n"
                            "    let s = a.sum + b.sum;\n"
                            "    let t = s - a.sum;\n"
                            "    sum = s;\n"
                            "    low = a.low + b.low + ((a.sum - (s - t)) + (b.sum - t))\n"
                            "  }\n"
                            "  finish sum + low\n"
                            "}\n");
    }

    test::ProgramFolder folder_;
};

TEST_F(LawsOfRunTest, IdentityThatIsNoneIsRefusedWithWaysOut)
{
    const auto result = folder_.run({"run", "kadane.seg", "--backend", "simt"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.errors,
              "segfold: kadane.seg:3:5: operator kadane states an identity that is none, and every stage "
              "relies on it\n"
              "        best: i32 = lowest(i32);\n"
              "        ^^^^\n"
              "the identity is not neutral:\n"
              "    identity = {best = -2147483648, front = -2147483648, back = -2147483648, total = 0}\n"
              "    combine(identity, a) = {best = 2147483647, front = -1, back = 2147483647, total = -1}\n"
              "    a = {best = -1, front = -1, back = -1, total = -1}, of x = -1\n"
              "leave the identity out (then 'empty' says what the result of an empty segment is), state "
              "another one (what an element adds goes into lift, what a result starts with into finish), "
              "or rely on it all the same with --assume identity\n");
}

/// emit, stages and tune report the same as run, and name the program's flag.
TEST_F(LawsOfRunTest, OtherVerbsNameTheFlagToo)
{
    const auto run = folder_.run({"run", "kadane.seg", "--backend", "simt"});
    EXPECT_EQ(folder_.run({"emit", "kadane.seg"}).errors, run.errors);
    const auto emitted = folder_.run({"emit", "kadane.seg", "--assume", "identity"});
    EXPECT_EQ(emitted.exit_code, 0);
    EXPECT_TRUE(emitted.errors.starts_with(
        "segfold: warning: operator kadane is refuted to have an identity, "
        "and relied on because of --assume identity ('segfold check' shows more)\n"))
        << emitted.errors;
}

TEST_F(LawsOfRunTest, IdentityThatTheDataDoNotRefuteIsReliedOn)
{
    write_npy(folder_.file("x.npy"), array_of<std::int32_t>(Type::i32, {3, 1, 4, 0, 5}));
    const auto result = folder_.run(
        {"run", "half.seg", "--input", "x.npy", "--backend", "simt", "--stage", "thread_per_segment"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.errors, "");  // the identity fails only for values far from these five
    EXPECT_NE(result.output.find("13"), std::string::npos) << result.output;
    const auto first = folder_.run({"run", "--op", "a != 0 ? a : b", "--identity", "0", "--backend", "simt",
                                    "--stage", "thread_per_segment", "--elements", "64"});
    EXPECT_EQ(first.exit_code, 0) << first.errors;
}

TEST_F(LawsOfRunTest, AssumedLawsAreReliedOn)
{
    const auto result = folder_.run({"run", "kadane.seg", "--assume", "identity", "--backend", "simt",
                                     "--stage", "thread_per_segment", "--elements", "64"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_TRUE(
        result.errors.starts_with("segfold: warning: operator kadane is refuted to have an identity, and "
                                  "relied on because of --assume identity (--explain shows more)\n"))
        << result.errors;
    EXPECT_EQ(folder_.run({"run", "kadane.seg", "--assume", "identiti"}).errors,
              "segfold: --assume: unknown law 'identiti'; it is one of associative, identity, commutative, "
              "idempotent; "
              "did you mean 'identity'?\n");
    EXPECT_EQ(
        folder_.run({"run", "kadane.seg", "--assume", "commutative"}).errors,
        "segfold: --assume commutative: operator kadane does not claim to be commutative; add it to the "
        "operator's laws\n");
    EXPECT_EQ(folder_.run({"run", "keep_first", "--assume", "identity"}).errors,
              "segfold: --assume identity: operator keep_first has no identity\n");
}

TEST_F(LawsOfRunTest, WhatIsWrongBecauseALawIsAssumedIsCalledWrong)
{
    const auto result = folder_.run({"run", "--op", "a - b", "--type", "f32", "--layout", "whole", "--input",
                                     "x=[100,2,3,4,5,6,7,8]", "--assume", "associative", "--stage",
                                     "warp_per_segment", "--backend", "simt", "--check"});
    EXPECT_EQ(result.exit_code, 1) << result.output << result.errors;
    EXPECT_NE(result.output.find("reference says 65"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("has no say: thrust::reduce_by_key needs an associative operator"),
              std::string::npos)
        << result.output;
}

TEST_F(LawsOfRunTest, AnIdentityOfFiniteValuesMayBeAssumedOfDataThatNobodyHasSeen)
{
    std::vector<std::string> words = {"run",     "--op",         "max(a, b)", "--type",
                                      "f32",     "--layout",     "uniform=2", "--identity=-inf",
                                      "--input", "[1, 2, 3, 4]", "--memory",  "1M"};
    EXPECT_EQ(folder_.run(words).errors, "");  // leaving the identity out changes no result
    words.insert(words.end(), {"--assume", "identity"});
    const auto result = folder_.run(words);
    EXPECT_TRUE(result.errors.starts_with(
        "segfold: warning: operator expression has an identity for all states but NaN; "
        "results of segments with NaN may depend on the stage (--explain shows more)\n"))
        << result.errors;
    EXPECT_EQ(result.errors.find("without its identity"), std::string::npos) << result.errors;
    EXPECT_EQ(result.exit_code, 0);
    // If data are known, they decide.
    (void)folder_.write(
        "twice.seg",
        "operator twice(x: f32) -> f32 {\n  state { n: f32 = 0; s: f32 = 0 }\n  lift { n = 1; s = x }\n"
        "  combine(a, b) { n = a.n + b.n; s = a.s + b.s + (a.s - b.s) * 0 }\n  finish s\n}\n");
    const auto infinite = folder_.run({"run", "twice.seg", "--layout", "uniform=1", "--input",
                                       "[inf, inf, 3]", "--backend", "cpu", "--assume", "identity"});
    EXPECT_NE(infinite.errors.find("runs without its identity"), std::string::npos) << infinite.errors;
}

/// A fold that is safe because its data are in memory is refused if data are read in parts. Both give the
/// reason.
TEST_F(LawsOfRunTest, AStreamSaysThatAFoldInOnePieceSeesItsData)
{
    const std::vector<std::string> words = {"run", "--op",       "max(a, b)", "--type",
                                            "i32", "--identity", "0",         "--backend",
                                            "cpu", "--input",    "[3, 1, 4]"};
    const auto seen = folder_.run(words);
    EXPECT_EQ(seen.exit_code, 0) << seen.errors;
    auto in_parts = words;
    auto explained = words;
    explained.emplace_back("--explain");
    EXPECT_NE(folder_.run(explained).errors.find("\na stream or a plan, which sees no data, refuses it\n"),
              std::string::npos);
    in_parts.insert(in_parts.end(), {"--memory", "1M"});
    const auto unseen = folder_.run(in_parts);
    EXPECT_EQ(unseen.exit_code, 2) << unseen.output;
    EXPECT_TRUE(unseen.errors.ends_with(
        "or rely on it all the same with --assume identity; a fold in one piece asks its data whether they "
        "show it, and a stream does not know them\n"))
        << unseen.errors;
}

TEST_F(LawsOfRunTest, InfiniteDataRunWithoutTheIdentity)
{
    const auto infinity = static_cast<float>(kInfinity);
    write_npy(folder_.file("scale.npy"), array_of<float>(Type::f32, {infinity, 2, 3, infinity, 0, 1, 2}));
    write_npy(folder_.file("shift.npy"), array_of<float>(Type::f32, {1, 1, 1, 0, 5, -infinity, 1}));
    write_npy(folder_.file("lengths.npy"), array_of<std::int64_t>(Type::i64, {1, 2, 0, 3, 1}));
    for (const std::string op : {"affine", "kahan.seg"})
        for (const std::string stage :
             {"warp_per_segment", "group_per_segment", "block_per_segment", "tile_scan"}) {
            std::vector<std::string> words = {"run",       op,      "--layout", "lengths=lengths.npy",
                                              "--backend", "simt",  "--stage",  stage,
                                              "--check",   "--json"};
            for (const std::string input : {"scale", "shift"})
                if (op == "affine" || input == "scale") {
                    words.emplace_back("--input");
                    words.push_back((op == "affine" ? input : "x") + "=" + input + ".npy");
                }
            const auto result = folder_.run(words);
            EXPECT_EQ(result.exit_code, 0) << stage << ": " << result.errors << result.output;
            const auto document = nlohmann::json::parse(result.output);
            EXPECT_EQ(document["without_identity"],
                      std::string("the identity is neutral on finite values alone, and '") +
                          (op == "affine" ? "scale" : "x") + "' has infinities or NaN");
            EXPECT_TRUE(document["agrees"]) << stage;
        }
    const auto warning = folder_.run(
        {"run", "kahan.seg", "--input", "scale.npy", "--backend", "simt", "--stage", "thread_per_segment"});
    EXPECT_EQ(warning.errors,
              "segfold: warning: operator kahan runs without its identity: the identity is neutral on finite "
              "values "
              "alone, and 'x' has infinities or NaN\n");
}

TEST_F(LawsOfRunTest, IdentityThatInfinitiesAloneRefuteIsLeftOut)
{
    (void)folder_.write("lse.seg",
                        "operator lse(x: f32) -> f32 {\n"
                        "  state { top: f32 = lowest(f32); sum: f32 = 0 }\n"
                        "  lift { top = x; sum = 1 }\n"
                        "  combine(a, b) {\n"
                        "    let m = max(a.top, b.top);\n"
                        "    top = m;\n"
                        "    sum = a.sum * exp(a.top - m) + b.sum * exp(b.top - m)\n"
                        "  }\n"
                        "  finish top + log(sum)\n"
                        "}\n");
    const auto infinity = static_cast<float>(kInfinity);
    write_npy(folder_.file("x.npy"), array_of<float>(Type::f32, {-infinity, 1, 2, 3, -infinity}));
    write_npy(folder_.file("lengths.npy"), array_of<std::int64_t>(Type::i64, {1, 3, 0, 1}));
    const auto result = folder_.run({"run", "lse.seg", "--input", "x.npy", "--layout", "lengths=lengths.npy",
                                     "--backend", "simt", "--stage", "warp_per_segment", "--check"});
    EXPECT_EQ(result.exit_code, 0) << result.errors << result.output;
    EXPECT_EQ(
        result.errors,
        "segfold: warning: operator lse runs without its identity: the identity is neutral on finite values "
        "alone, and 'x' has infinities or NaN\n");
}

TEST_F(LawsOfRunTest, NanIsWarnedOfWhereTheDataCanMakeIt)
{
    const auto run = [&](const std::string& lift, const std::string& values) {
        return folder_.run({"run", "--op", "max(a, b)", "--identity", "-inf", "--lift", lift, "--type", "f32",
                            "--layout", "uniform=16", "--elements", "64", "--values", values, "--backend",
                            "simt", "--show", "0"});
    };
    for (const std::string values : {"uniform", "small_integers"}) {
        const auto finite = run("x", values);
        EXPECT_EQ(finite.exit_code, 0) << finite.errors;
        EXPECT_EQ(finite.errors, "") << values;
    }
    const auto roots = run("sqrt(x)", "uniform");
    EXPECT_NE(roots.errors.find("without its identity: the identity is not neutral on element 0 of the data"),
              std::string::npos)
        << roots.errors;
}

/// a > b ? a : b depends on the order only if there are NaNs.
TEST_F(LawsOfRunTest, AStageThatKeepsTheOrderOfNanIsNamed)
{
    (void)folder_.write("greatest.seg",
                        "operator greatest(x: f32) -> (m: f32, n: i32) {\n"
                        "  state { m: f32 = -inf; n: i32 = 0 }\n"
                        "  lift { m = x; n = 1 }\n"
                        "  combine(a, b) { m = a.m > b.m || b.n == 0 ? a.m : b.m; n = a.n + b.n }\n"
                        "}\n");
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> values;
    for (int i = 0; i < 500; ++i)
        values.push_back(i % 7 == 3 ? nan : static_cast<float>(i * 37 % 101));
    write_npy(folder_.file("nan.npy"), Array::of<float>(Type::f32, std::span<const float>(values)));
    for (auto& value : values)
        value = std::isnan(value) ? std::numeric_limits<float>::infinity() : value;
    write_npy(folder_.file("inf.npy"), Array::of<float>(Type::f32, std::span<const float>(values)));
    const auto run = [&](const std::string& input, const std::vector<std::string>& more) {
        std::vector<std::string> words = {"run",         "greatest.seg", "--input", input,    "--layout",
                                          "uniform=100", "--backend",    "simt",    "--check"};
        words.insert(words.end(), more.begin(), more.end());
        return folder_.run(words);
    };
    const std::string in_doubt = "is associative for all states but NaN";
    EXPECT_EQ(run("nan.npy", {"--stage", "warp_per_segment"}).exit_code, 2);
    const auto any_order = run("nan.npy", {"--stage", "warp_per_segment", "--assume", "associative"});
    EXPECT_EQ(any_order.exit_code, 1) << any_order.output;
    EXPECT_NE(any_order.errors.find(in_doubt +
                                    "; results of segments with NaN may depend on the stage; the stage "
                                    "thread_per_segment folds from left to right, as the reference does ("),
              std::string::npos)
        << any_order.errors;
    const auto in_order = run("nan.npy", {});
    EXPECT_EQ(in_order.exit_code, 0) << in_order.output << in_order.errors;
    EXPECT_NE(in_order.errors.find(in_doubt + ", and 'x' has NaN; only stages"), std::string::npos);
    const auto emitted = folder_.run({"emit", "greatest.seg", "--layout", "offsets"});
    EXPECT_NE(emitted.errors.find("thread_per_segment folds from left to right"), std::string::npos);
    EXPECT_EQ(folder_.run({"emit", "greatest.seg", "--stage", "thread_per_segment"}).errors.find(in_doubt),
              std::string::npos);
    const auto without_nan = run("inf.npy", {"--stage", "warp_per_segment"});
    EXPECT_EQ(without_nan.exit_code, 0) << without_nan.output;
    EXPECT_EQ(without_nan.errors.find(in_doubt), std::string::npos) << without_nan.errors;
}

TEST_F(LawsOfRunTest, CheckDrawsValuesThatSuitTheOperator)
{
    for (const std::vector<std::string>& op : {std::vector<std::string>{"product", "--type", "bf16"},
                                               std::vector<std::string>{"affine", "--type", "f16"}}) {
        std::vector<std::string> words = {"check"};
        words.insert(words.end(), op.begin(), op.end());
        for (const char* word : {"--backend", "simt", "--layout", "zipf:exponent=1.9", "--elements", "4096",
                                 "--stage", "block_per_segment"})
            words.emplace_back(word);
        const auto result = folder_.run(words);
        EXPECT_EQ(result.exit_code, 0) << result.output;
        EXPECT_NE(result.output.find("near_one"), std::string::npos) << result.output;
        // The rule of runtime/judge/tolerance.h judges totals that overflow.
        words.emplace_back("--values");
        words.emplace_back("small_integers");
        EXPECT_EQ(folder_.run(words).exit_code, 0) << op[0];
    }
}

/// An operator whose identity is neutral unless tol is negative.
constexpr auto kTolerance =
    "operator widest(x: i32, tol: scalar i32) -> i32 {\n"
    "  state { n: i32 = 0; t: i32 = 0 }\n"
    "  lift { n = 1; t = tol }\n"
    "  combine(a, b) { n = a.n + b.n; t = max(a.t, b.t) }\n"
    "  finish t\n"
    "}\n";

TEST_F(LawsOfRunTest, CheckJudgesTheScalarsThatItIsGiven)
{
    (void)folder_.write("widest.seg", kTolerance);
    const auto check = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"check",     "widest.seg", "--prove",    "off",
                                          "--layout",  "uniform=10", "--stage",    "thread_per_segment",
                                          "--backend", "simt",       "--elements", "100"};
        words.insert(words.end(), more.begin(), more.end());
        return folder_.run(words);
    };
    const auto all = check({});
    EXPECT_EQ(all.exit_code, 1);
    EXPECT_NE(all.output.find("the identity is not neutral with tol = -"), std::string::npos) << all.output;
    EXPECT_NE(all.output.find("(many values of the scalars were tried; --scalar tol=VALUE asks about one)\n"),
              std::string::npos)
        << all.output;
    const auto right = check({"--scalar", "tol=5"});
    EXPECT_EQ(right.exit_code, 0) << right.output << right.errors;
    EXPECT_NE(right.output.find("identity: not refuted by"), std::string::npos) << right.output;
    const auto wrong = check({"--scalar", "tol=-5"});
    EXPECT_EQ(wrong.exit_code, 1);
    EXPECT_NE(wrong.output.find("the identity is not neutral with tol = -5:"), std::string::npos)
        << wrong.output;
}

TEST_F(LawsOfRunTest, CheckLetsTheScalarsVaryThatItIsNotGiven)
{
    (void)folder_.write("between.seg",
                        "operator between(x: i32, low: scalar i32, high: scalar i32) -> i32 {\n"
                        "  state t: i32 = 0\n"
                        "  lift low > high ? -1 : 1\n"
                        "  combine(a, b) max(a, b)\n"
                        "}\n");
    const auto check = [&](const std::string& low) {
        return folder_.run({"check", "between.seg", "--prove", "off", "--layout", "uniform=10", "--stage",
                            "thread_per_segment", "--backend", "simt", "--elements", "100", "--scalar",
                            "low=" + low});
    };
    const auto some = check("5");
    EXPECT_EQ(some.exit_code, 1);
    EXPECT_NE(some.output.find("the identity is not neutral with low = 5, high = "), std::string::npos)
        << some.output;
    EXPECT_NE(some.output.find("(many values of high were tried; --scalar high=VALUE asks about one)\n"),
              std::string::npos)
        << some.output;
    const auto none = check("-2147483648");
    EXPECT_EQ(none.exit_code, 0) << none.output << none.errors;
}

/// An operator whose associativity depends on the scalar.
constexpr auto kSigned =
    "operator signed(x: i32, k: scalar i32) -> i32 {\n"
    "  state { v: i32; k: i32 }\n"
    "  lift { v = x; k = k }\n"
    "  combine(a, b) { v = a.k < 0 ? a.v - b.v : a.v + b.v; k = a.k }\n"
    "  finish v\n"
    "}\n";

TEST_F(LawsOfRunTest, EmitAndRegressJudgeTheScalarsThatTheyAreGiven)
{
    (void)folder_.write("signed.seg", kSigned);
    const auto emit = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"emit",  "signed.seg", "--layout",
                                          "whole", "--stage",    "grid_reduce"};
        words.insert(words.end(), more.begin(), more.end());
        return folder_.run(words);
    };
    EXPECT_NE(emit({}).exit_code, 0) << "it must hold for all";
    const auto right = emit({"--scalar", "k=3"});
    EXPECT_EQ(right.exit_code, 0) << right.errors;
    EXPECT_EQ(
        right.errors,
        "segfold: note: laws are judged for the scalars that are given; with others the text may be wrong\n");
    EXPECT_NE(emit({"--scalar", "k=-3"}).exit_code, 0);
    const auto noted = [](const test::ProgramResult& result) {
        return nlohmann::json::parse(result.output).value("scalars", nlohmann::json()).dump();
    };
    EXPECT_EQ(noted(emit({"--scalar", "k=3", "--json"})), R"({"k":3})");
    EXPECT_EQ(noted(folder_.run({"emit", "signed.seg", "--all", "all", "--scalar", "k=3", "--json"})),
              R"({"k":3})");
    EXPECT_EQ(noted(folder_.run({"emit", "count_above", "--scalar", "threshold=3", "--json"})), "null")
        << "it is right for all";
    EXPECT_EQ(emit({"--scalar", "q=3"}).errors,
              "segfold: --scalar 'q=3': operator signed has no scalar 'q'; it has k\n");

    const auto regress = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"regress",     "signed.seg", "--relation", "one_segment", "--stage",
                                          "grid_reduce", "--backend",  "simt",       "--elements",  "200"};
        words.insert(words.end(), more.begin(), more.end());
        return folder_.run(words);
    };
    const auto held = regress({"--scalar", "k=3"});
    EXPECT_EQ(held.exit_code, 0) << held.output << held.errors;
    EXPECT_NE(held.output.find("signed.seg --scalar k=3"), std::string::npos) << held.output;
    EXPECT_NE(regress({}).exit_code, 0);
    EXPECT_NE(regress({"--scalar", "k=-3"}).exit_code, 0);
    EXPECT_EQ(folder_.run({"regress", "--scalar", "k=3"}).errors,
              "segfold: --scalar is a value of an operator's scalar, and no operator is named\n");
    EXPECT_EQ(folder_.run({"regress", "sum,max", "--scalar", "k=3"}).errors,
              "segfold: --scalar 'k=3': the operators have no scalars; a parameter is declared as one by k: "
              "scalar f32\n");
}

/// A run knows its scalars: it relies on laws that only other scalars refute, and refuses laws that its own
/// scalars refute.
TEST_F(LawsOfRunTest, RunsAskTheirOwnScalars)
{
    (void)folder_.write("widest.seg", kTolerance);
    const auto run = [&](const std::string& tol) {
        return folder_.run({"run", "widest.seg", "--input", "x=[1,2,3]", "--layout", "uniform=3", "--backend",
                            "simt", "--scalar", "tol=" + tol});
    };
    const auto right = run("5");
    EXPECT_EQ(right.exit_code, 0) << right.errors;
    EXPECT_EQ(right.errors.find("identity"), std::string::npos) << right.errors;
    const auto wrong = run("-5");
    EXPECT_NE(wrong.exit_code, 0);
    EXPECT_NE(wrong.errors.find("the identity is not neutral with tol = -5:"), std::string::npos)
        << wrong.errors;
}

/// Laws that the search of many values of the scalar does not refute.
TEST_F(LawsOfRunTest, RunsSearchTheirOwnScalarsThoughOthersRefuteNothing)
{
    (void)folder_.write("odd.seg",
                        "operator odd(x: i32, k: scalar i32) -> i32 {\n"
                        "  state { v: i32; k: i32 }\n"
                        "  lift { v = x; k = k }\n"
                        "  combine(a, b) { v = a.k == 12345 ? a.v - b.v : a.v + b.v; k = a.k }\n"
                        "  finish v\n"
                        "}\n");
    (void)folder_.write("modular.seg",
                        "operator modular(x: u32, m: scalar u32) -> u32 {\n"
                        "  state { v: u32; m: u32 }\n"
                        "  lift { v = x % m; m = m }\n"
                        "  combine(a, b) { v = a.v * b.v % a.m; m = a.m }\n"
                        "  finish v\n"
                        "}\n");
    const auto run = [&](const std::string& file, const std::string& scalar) {
        return folder_.run({"run", file, "--elements", "64", "--layout", "uniform=16", "--backend", "simt",
                            "--scalar", scalar});
    };
    for (const auto& [file, scalar] : {std::pair{"odd.seg", "k=12345"},
                                       {"modular.seg", "m=67003"},  // products overflow for elements near m
                                       {"modular.seg", "m=66029"}})
        EXPECT_NE(run(file, scalar).errors.find("is not associative"), std::string::npos) << scalar;
    EXPECT_EQ(run("odd.seg", "k=12346").errors + run("modular.seg", "m=251").errors, "");
    const auto emitted = folder_.run({"emit", "odd.seg", "--scalar", "k=12345"});
    EXPECT_NE(emitted.errors.find("operator odd is not associative"), std::string::npos) << emitted.errors;
}

}  // namespace
}  // namespace segfold::cli_laws_test
