// check --tree: the hash that stands for an operator, and what is found of stages whose trees are known.
#include "runtime/check/tree.h"

#include <gtest/gtest.h>

#include "dsl/text/standard_operators.h"
#include "runtime/judge/reference.h"
#include "tests/common/small_workloads.h"

namespace segfold::regress::tree_test {
namespace {

std::int64_t changed(const TreeRow& row, TreeCause cause)
{
    return row.changed[static_cast<std::size_t>(cause)].value_or(-1);
}

/// The rows of one stage of a request.
std::vector<TreeRow> rows_of(const std::string& op, const std::string& stage, bool is_reproducible = false)
{
    const auto& catalogue = Catalogue::standard();
    auto rows = compare_trees(standard_operator(op), {{&catalogue.stage(stage)}, catalogue, is_reproducible});
    for (const auto& row : rows)
        EXPECT_EQ(row.fault, "") << stage;
    return rows;
}

std::uint64_t hash_of(const std::vector<std::int32_t>& values)
{
    const auto n = static_cast<std::int64_t>(values.size());
    const auto results =
        reduce_sequentially(workload_of(bracket_operator(standard_operator("sum_i32")), whole_segments(n),
                                        Array::of<std::int32_t>(Type::i32, values)));
    return values_of<std::uint64_t>(results)[0];
}

TEST(Tree, HashTellsOrderElementsAndEmptySegmentsApart)
{
    EXPECT_NE(hash_of({1, 2}), hash_of({2, 1}));
    EXPECT_NE(hash_of({1, 2, 3}), hash_of({1, 2}));
    EXPECT_NE(hash_of({1}), 0u);
    EXPECT_EQ(hash_of({}), 0u);
    const auto op = bracket_operator(standard_operator("affine_u32"));
    EXPECT_EQ(op.parameters.size(), 2u);
    EXPECT_FALSE(op.laws.commutative);
}

TEST(Tree, OneThreadTakesTheSameTreeWhateverIsBeside)
{
    for (const auto& row : rows_of("sum_i32", "thread_per_segment"))
        for (const auto& count : row.changed)
            EXPECT_EQ(count.value_or(0), 0) << name(row.form);
}

TEST(Tree, StreamsCutSegmentsByNeighboursAndDevice)
{
    const auto rows = rows_of("sum_i32", "lean_stream");
    ASSERT_EQ(rows.size(), 2u);  // over offsets, and over offsets that it finds in flags
    for (const auto& row : rows) {
        EXPECT_GT(changed(row, TreeCause::neighbours), 0) << name(row.form);
        EXPECT_LE(changed(row, TreeCause::alignment), 0) << name(row.form);  // -1 where it is not asked
        EXPECT_GT(changed(row, TreeCause::device), 0) << name(row.form);
    }
    for (const auto& row : rows_of("sum_i32", "lean_stream", true))
        EXPECT_EQ(changed(row, TreeCause::device), 0) << name(row.form);
}

}  // namespace
}  // namespace segfold::regress::tree_test
