#include "dsl/rewrite/index_column.h"

#include <gtest/gtest.h>

#include "dsl/laws/laws.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"

namespace segfold::index_column_test {
namespace {

Operator parsed(const std::string& text) { return parse_operator("op.seg", text); }

TEST(IndexColumn, TakesThePlaceOfIndexInEveryPart)
{
    const auto op = with_index_column(
        parsed("operator o(place: f32) -> (s: i64, each y: i64, each z: i64) {\n  state s: i64 = 0\n"
               "  lift { let twice = 2 * index; s = twice }\n  combine(a, b) a + b\n  map { y = index - s }\n"
               "  scan(before, through) { z = through.s + index }\n}"));
    EXPECT_FALSE(reads_index(op));
    ASSERT_EQ(op.parameters.size(), 2U);
    EXPECT_EQ(op.parameters[1].type, Type::i64);
    const auto name = op.parameters[1].name;
    EXPECT_NE(name, "place");
    const auto same_by_hand = parsed("operator o(place: f32, " + name +
                                     ": i64) -> (s: i64, each y: i64, each z: i64) {\n  state s: i64 = 0\n" +
                                     "  lift { let twice = 2 * max(" + name +
                                     ", 0); s = twice }\n  combine(a, b) a + b\n  map { y = " + name +
                                     " - s }\n  scan(before, through) { z = through.s + " + name + " }\n}");
    EXPECT_EQ(print(op), print(same_by_hand));
}

/// No element stands before the first, so the identity is neutral.
TEST(IndexColumn, KeepsLawsThatHoldForPositions)
{
    const auto op = parsed(
        "operator last(x: f32) -> i64 {\n  state at: i64 = -1\n  lift x > 1.0 ? index : -1\n"
        "  combine(a, b) b.at < 0 ? a.at : b.at\n}");
    EXPECT_FALSE(check_laws(op).any_refuted());
    EXPECT_FALSE(check_laws(with_index_column(op)).any_refuted());
}

/// An append may rely on positions that rise.
TEST(IndexColumn, GoesWithoutAnAppendThatReadsIt)
{
    const std::string head =
        "operator o(x: i32) -> i64 {\n  state s: i64 = 0\n  lift i64(x) + index\n  combine(a, b) a + b\n";
    EXPECT_FALSE(with_index_column(parsed(head + "  append(a) a + i64(x) + index\n}")).append);
    EXPECT_TRUE(
        with_index_column(
            parsed("operator o(x: i32) -> (s: i64, each y: i64) {\n  state s: i64 = 0\n  lift i64(x)\n"
                   "  combine(a, b) a + b\n  append(a) a + i64(x)\n  map { y = index }\n}"))
            .append);
}

TEST(IndexColumn, IsAskedForWhereIndexIsRead)
{
    const std::string head =
        "operator o(x: i32) -> (s: i64, each y: i64) {\n  state s: i64 = 0\n  lift position\n"
        "  combine(a, b) a + b\n";
    EXPECT_TRUE(reads_index(parsed(head + "  map { y = index }\n}")));
    EXPECT_TRUE(reads_index(parsed(head + "  scan(before, through) { y = through.s + index }\n}")));
    EXPECT_FALSE(reads_index(parsed(head + "  map { y = position }\n}")));
}

}  // namespace
}  // namespace segfold::index_column_test
