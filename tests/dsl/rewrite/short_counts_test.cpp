// Compares operators whose counts are narrowed to 32 bits with the original ones: results are the same. An
// operator is unchanged if a field may be negative or count an element twice.
#include "dsl/rewrite/short_counts.h"

#include <gtest/gtest.h>

#include "codegen/problem.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/equal_results.h"

namespace segfold::short_counts_test {
namespace {

/// An operator with i64 state fields n and m. `rest` may add a finish.
Operator of_parts(const std::string& identities, const std::string& lift, const std::string& combine,
                  const std::string& rest = "finish { p = n; q = m }")
{
    return parse_operator("own.seg", "operator own(x: f32) -> (p: i64, q: i64) { state { " + identities +
                                         " } lift { " + lift + " } combine(a, b) { " + combine + " } " +
                                         rest + " }");
}

const std::string kZero = "n: i64 = 0; m: i64 = 0";
const std::string kOnes = "n = 1; m = x > 0 ? 1 : 0";
const std::string kSums = "n = a.n + b.n; m = a.m + b.m";

int counts_of_32_bits(const Operator& op)
{
    int count = 0;
    for (const auto& field : short_counts(op).state)
        count += field.type == Type::i32 ? 1 : 0;
    for (const auto& field : op.state)
        count -= field.type == Type::i32 ? 1 : 0;
    return count;
}

void expect_equal_results(const Operator& op) { expect_equal_results(op, short_counts(op)); }

TEST(ShortCounts, GiveTheSameResults)
{
    for (const auto& [name, count] :
         {std::pair{"longest_run_f32", 4}, std::pair{"longest_sorted_i32", 4}, std::pair{"mean_f32", 1},
          std::pair{"count_f32", 1}, std::pair{"count_nonzero_i32", 1}, std::pair{"count_missing_f32", 1}}) {
        const auto op = standard_operator(name);
        EXPECT_EQ(counts_of_32_bits(op), count) << name;
        expect_equal_results(op);
    }
    for (const auto& op :
         {of_parts(kZero, kOnes, kSums), of_parts("n: i64; m: i64", kOnes, kSums, "empty { p = 0; q = 0 }"),
          of_parts(kZero, kOnes, kSums, "finish { p = n * n; q = m - n }"),
          of_parts(kZero, kOnes, kSums, "finish { let both = n + m; p = both * 3; q = 0 - both }"),
          of_parts(kZero, "let one = i64(x > 0); n = one; m = max(one, 0)",
                   "let all = a.n + b.n; n = all; m = all > 7 ? a.m : max(a.m, b.m)"),
          of_parts(kZero, "n = i64(x == 0); m = 1",
                   "n = min(a.n + b.n, a.n); m = f32(a.n) > 0.5 ? a.m : b.m"),
          of_parts(kZero, kOnes, kSums + " } append(a) { n = a.n + 1; m = x > 0 ? a.m + 1 : a.m")}) {
        EXPECT_EQ(counts_of_32_bits(op), 2) << print(op);
        expect_equal_results(op);
    }
}

TEST(ShortCounts, LeaveFieldsThatMayBeMoreThanCounts)
{
    const std::vector<std::pair<int, Operator>> cases = {
        {0, of_parts(kZero, "n = 2; m = i64(x)", kSums)},
        {0, of_parts(kZero, "n = index; m = -1", kSums)},
        {0, of_parts("n: i64 = 1; m: i64 = -1", kOnes, kSums)},
        // An element may be counted twice.
        {0, of_parts(kZero, kOnes, "n = a.n + b.n; m = a.m + b.m + a.n")},
        {1, of_parts(kZero, kOnes, "n = a.n + b.n; m = a.m + a.m")},
        {0, of_parts(kZero, "n = 1; m = 1 + (x > 0 ? 1 : 0)", "n = a.m + b.n; m = a.m + b.m")},
        // A 1 does not stand for an element.
        {1, of_parts(kZero, kOnes, "n = a.n + b.n; m = a.m + b.m + (a.n == 0 ? 1 : 0)")},
        {1, of_parts(kZero, kOnes, kSums + " } append(a) { n = a.n + 1; m = a.m + 2")},
        // A count may be negative, or n is used in arithmetic.
        {0, of_parts(kZero, kOnes, "n = a.n + b.n; m = a.m - b.n")},
        {0, of_parts(kZero, kOnes, "let twice = a.n * 2; n = a.n + b.n; m = twice > b.m * 2 ? a.m : b.m")},
        {1, of_parts(kZero, kOnes, "let d = a.n - b.n; n = a.n + b.n; m = d > 0 ? a.m : b.m")},
    };
    for (const auto& [count, op] : cases) {
        EXPECT_EQ(counts_of_32_bits(op), count) << print(op);
        if (count == 0)
            EXPECT_EQ(print(short_counts(op)), print(op));
        else
            expect_equal_results(op);
    }
}

TEST(ShortCounts, StandInProblemsWithIndicesOf32Bits)
{
    const auto op = standard_operator("longest_run_f32");
    EXPECT_EQ(Problem(op, SegmentForm::offsets, 32).op.state[0].type, Type::i32);
    EXPECT_EQ(Problem(op, SegmentForm::offsets, 64).op.state[0].type, Type::i64);
}

}  // namespace
}  // namespace segfold::short_counts_test
