// Compares operators whose places are narrowed to 32 bits with the original ones: results are the same. An
// operator is unchanged if a field is more than a place.
#include "dsl/rewrite/short_places.h"

#include <gtest/gtest.h>

#include "codegen/problem.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/equal_results.h"

namespace segfold::short_places_test {
namespace {

Operator read(const std::string& body)
{
    return parse_operator("own.seg", "operator own(x: f32) -> (p: i64, q: i64) { " + body + " }");
}

/// An operator with state fields p and q. `rest` may add a finish.
Operator of_parts(const std::string& identities, const std::string& lift, const std::string& combine,
                  const std::string& rest = "")
{
    return read("state { " + identities + " } lift { " + lift + " } combine(a, b) { " + combine + " } " +
                rest);
}

const std::string kNone = "p: i64 = highest(i64); q: i64 = lowest(i64)";
const std::string kLift = "p = x > 0 ? index : highest(i64); q = x > 0 ? index : lowest(i64)";
const std::string kCombine = "p = min(a.p, b.p); q = max(a.q, b.q)";

int places_of_32_bits(const Operator& op)
{
    int count = 0;
    for (const auto& field : short_places(op).state)
        count += field.type == Type::i32 ? 1 : 0;
    return count;
}

void expect_equal_results(const Operator& op) { expect_equal_results(op, short_places(op)); }

TEST(ShortPlaces, GiveTheSameResults)
{
    for (const std::string name : {"argmax_f32", "argmin_f32", "argmax_i32", "argmin_u8", "argmax_f64"}) {
        const auto op = standard_operator(name);
        EXPECT_GE(places_of_32_bits(op), 1) << name;
        expect_equal_results(op);
    }
    for (const auto& op :
         {of_parts(kNone, kLift, kCombine),
          of_parts(kNone, kLift, kCombine, "finish { p = p; q = q - p + 1 }"),
          of_parts(kNone, kLift, kCombine, "empty { p = -1; q = -2 }"),
          of_parts("p: i64; q: i64", "p = index; q = index", "p = a.p; q = b.q", "empty { p = -1; q = -1 }"),
          of_parts("p: i64 = -1; q: i64 = -1", "p = position; q = index",
                   "let none = a.p == -1; p = none ? b.p : a.p; q = none ? b.q : a.q"),
          of_parts(kNone, kLift, "p = a.p == highest(i64) ? b.p : a.p; q = b.q < a.q ? a.q : b.q")}) {
        EXPECT_EQ(places_of_32_bits(op), 2) << print(op);
        expect_equal_results(op);
    }
}

TEST(ShortPlaces, LeaveFieldsThatAreMoreThanPlaces)
{
    const std::vector<std::pair<int, Operator>> cases = {
        {0, of_parts("p: i64 = 0; q: i64 = 0", "p = index; q = 1", "p = a.p + b.p; q = a.q + b.q")},
        {1, of_parts("p: i64 = 0; q: i64 = 0", "p = index; q = index", "p = max(a.p, b.p); q = a.q + b.q")},
        // p is used in a sum, so it may be no place. q is only chosen by p, so it stays a place.
        {1, of_parts(kNone, kLift, "p = min(a.p, b.p); q = a.p + 1 < b.p ? a.q : b.q")},
        // p is compared with a value that is no place, and q is chosen by it.
        {0, of_parts(kNone, kLift, "p = min(a.p, b.p); q = a.p < b.q - 1 ? a.p : b.p",
                     "finish { p = p; q = q }")},
        {0, of_parts("p: i64 = 4294967296; q: i64 = 4294967296", "p = index; q = index",
                     "p = min(a.p, b.p); q = max(a.q, b.q)")},
        {0, of_parts(kNone, "p = i64(x); q = index * 2", kCombine)},
        {0,
         of_parts(kNone, kLift, "let lost = a.p; p = min(lost, b.p); q = a.p > 0 ? max(a.q, b.q) : b.q + 1")},
    };
    for (const auto& [count, op] : cases) {
        EXPECT_EQ(places_of_32_bits(op), count) << print(op);
        if (count == 0)
            EXPECT_EQ(print(short_places(op)), print(op));
        else
            expect_equal_results(op);
    }
}

TEST(ShortPlaces, StandInProblemsWithIndicesOf32Bits)
{
    const auto op = standard_operator("argmax_f32");
    EXPECT_EQ(Problem(op, SegmentForm::offsets, 32).op.state[1].type, Type::i32);
    EXPECT_EQ(Problem(op, SegmentForm::offsets, 64).op.state[1].type, Type::i64);
}

}  // namespace
}  // namespace segfold::short_places_test
