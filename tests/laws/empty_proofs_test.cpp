// A proof does not count if its assumptions leave nothing to prove, or leave out ordinary states.
#include <gtest/gtest.h>

#include "dsl/text/parser.h"
#include "runtime/laws/prove/prove.h"

namespace segfold::empty_proofs_test {
namespace {

constexpr double kSeconds = 2;
/// Few cases, so that the search leaves the counter-examples of this test to the prover.
constexpr LawOptions kSearch{300, 1, 1};

class EmptyProofsTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto reason = solver_.unavailable(); !reason.empty())
            GTEST_SKIP() << reason;
    }

    Verdict verdict(Law law, const std::string& text)
    {
        const auto op = parse_operator("f", text);
        auto report = check_laws(op, kSearch);
        std::erase_if(report.findings, [&](const auto& finding) { return finding.law != law; });
        prove::ProofOptions options;
        options.seconds = kSeconds;
        prove::prove_laws(op, report, solver_, options);
        return report.find(law)->verdict;
    }

    prove::Solver solver_;
};

std::string first_place(const std::string& type, const std::string& append)
{
    return "operator f(x: i32) -> i64 { state { first: " + type + " = highest(" + type +
           "); s: i64 = 0 } lift { first = " + type +
           "(index); s = i64(x) } combine(a, b) { first = min(a.first, b.first); s = a.s + b.s } append(a) "
           "{ " +
           append + " } finish s }";
}

TEST_F(EmptyProofsTest, AppendToTheIdentityMayOverflow)
{
    for (const auto* type : {"i64", "i32"}) {
        const std::string t = type;
        const auto doubled = "(" + t + "(index) == a.first + 5003 ? i64(x) * 2 : i64(x))";
        const auto first = "first = a.first == highest(" + t + ") ? " + t + "(index) : a.first; ";
        EXPECT_FALSE(is_proof(verdict(Law::append, first_place(t, first + "s = a.s + " + doubled)))) << t;
        // The overflow is in a side of a condition, behind a local, or in a nested condition.
        EXPECT_FALSE(is_proof(verdict(
            Law::append, first_place(t, "let far = a.first + 5003; " + first + "s = a.s + (index > 9 ? (" +
                                            t + "(index) == far ? 0 : i64(x)) : i64(x))"))))
            << t;
    }
}

TEST_F(EmptyProofsTest, TermsOfTheIdentityMayOverflow)
{
    const auto counted = [](const std::string& t, const std::string& identity, const std::string& doubtful) {
        return "operator f(x: i32) -> i64 { state { p: " + t + " = " + identity +
               "; n: i64 = 0 } lift { p = " + t +
               "(x & 7); n = 1 } combine(a, b) { let after = a.p + 1; let before = a.p - 3; p = " +
               (identity.starts_with("highest") ? "min" : "max") + "(a.p, b.p); n = a.n + b.n + (" +
               doubtful + " ? i64(1) : i64(0)) } finish n }";
    };
    for (const auto& [type, identity, doubtful] :
         {std::tuple{"i64", "highest(i64)", "a.n == 0 && b.n == 5024 && after != 7"},
          {"i32", "highest(i32)", "!(a.n != 0 || b.n != 5024 || after == 7)"},
          {"i16", "highest(i16)", "a.n == 0 && b.n == 5024 && min(after, 3) < 3"},
          {"i32", "lowest(i32)", "a.n == 0 && b.n == 5024 && before > 0"},
          {"u32", "0", "a.n == 0 && b.n == 5024 && before > 100"},
          {"i32", "highest(i32)", "(a.n == 0 ? (b.n == 5024 ? after : 1) : 1) < 0"}})
        EXPECT_FALSE(is_proof(verdict(Law::identity, counted(type, identity, doubtful))))
            << type << " " << doubtful;
}

TEST_F(EmptyProofsTest, IntegersBesideFloatsMayOverflow)
{
    EXPECT_FALSE(is_proof(verdict(Law::identity,
                                  "operator f(x: f32) -> f32 { state { p: i64 = highest(i64); n: i64 = 0; s: "
                                  "f32 = 0 } lift { p = index; n = 1; s "
                                  "= x } combine(a, b) { p = min(a.p, b.p); n = a.n == 0 && b.n == 5024 && "
                                  "a.p + 1 < 0 ? i64(7) : a.n + b.n; s = "
                                  "a.s + b.s } finish s + f32(n) }")));
}

TEST_F(EmptyProofsTest, ConstantsThatOverflowProveNothing)
{
    EXPECT_FALSE(is_proof(
        verdict(Law::associative,
                "operator f(x: i32) -> i32 { state { n: i32 = 0; m: i32 = 0 } lift { n = 1; m = x & 3 "
                "} combine(a, b) { let least = -(highest(i32) + 1); n = a.n + b.n; m = max(a.m, b.m) "
                "+ (a.n == 5024 && b.m > least ? 1 : 0) } finish m }")));
}

TEST_F(EmptyProofsTest, WhatIsNotUsedMayOverflow)
{
    // A local that is never read, and a side that the identity does not take, are no reason for doubt.
    const std::string text =
        "operator f(x: i32) -> i32 { state { p: i32 = highest(i32); n: i32 = 0 } lift { p = x & 7; n = 1 } "
        "combine(a, b) "
        "{ let unused = a.p + 1; let far = a.n == 0 || b.n == 0 ? 0 : b.p - a.p + 1; p = min(a.p, b.p); n = "
        "max(a.n + "
        "b.n, far - far) } finish n }";
    EXPECT_TRUE(is_proof(verdict(Law::identity, text)));
}

}  // namespace
}  // namespace segfold::empty_proofs_test
