// Delicate cases of the stage group_or_grid: long segments that begin and end at the borders of slices, two
// of them in one slice, and pieces of more blocks than a warp has lanes.
#include <gtest/gtest.h>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/message_of.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::group_or_grid_test {
namespace {

constexpr int kLongItems = 64;
/// Items of a block if there are blocks for all items: two items for each thread.
constexpr std::int64_t kSlice = 64;

Emitted text_of(const std::string& op, int index_bits)
{
    return emit(Problem(matrix_operator(op), SegmentForm::offsets, index_bits),
                Catalogue::standard().stage("group_or_grid"),
                {{"block_threads", 64},
                 {"items_per_thread", 2},
                 {"lanes_per_segment", 2},
                 {"long_items", kLongItems},
                 {"blocks_per_multiprocessor", 4}});
}

/// Lengths of neighbouring segments, and the number of multiprocessors, which have four blocks each.
struct Shape {
    std::string name;
    std::vector<std::int64_t> lengths;
    int num_multiprocessors;
};

std::vector<Shape> shapes()
{
    std::vector<Shape> list;
    for (const int multiprocessors : {1, 3, 100})
        for (auto& [name, lengths] : piece_cases(kSlice, kLongItems))
            list.push_back({name, std::move(lengths), multiprocessors});
    return list;
}

std::optional<std::string> difference(const std::string& op, const Emitted& emitted, const Shape& shape,
                                      int index_bits)
{
    const auto n = total(shape.lengths);
    const auto workload = make_workload(
        op, with_index_bits(segments_from_offsets(index_array(offsets_of(shape.lengths)), n), index_bits), 5);
    try {
        // Launched twice: the second launch meets the tickets that the first has left.
        const auto comparison = Judge(workload).compare(
            simt::run(workload, emitted, simt::options_from_seed(3), {}, shape.num_multiprocessors, 2));
        return comparison.agrees() ? std::nullopt : std::optional(segfold::print(comparison));
    } catch (const simt::SimtError& error) {
        return error.what();
    }
}

TEST(GroupOrGrid, PiecesOfLongSegmentsAreJoined)
{
    for (const auto* op : {"trace_u64", "affine_u32", "sum_f32", "max_subarray_i32"})
        for (const int bits : {32, 64}) {
            const auto emitted = text_of(op, bits);
            for (const auto& shape : shapes()) {
                const auto found = difference(op, emitted, shape, bits);
                EXPECT_FALSE(found) << op << ", " << shape.name << ", " << shape.num_multiprocessors
                                    << " multiprocessors: " << *found;
            }
        }
}

/// A segment longer than long_items that fits into a row of its group would be stored twice: by the group and
/// by a warp.
TEST(GroupOrGrid, ARowOfAGroupHoldsNoLongSegment)
{
    const auto& stage = Catalogue::standard().stage("group_or_grid");
    const Problem problem(matrix_operator("trace_u64"), SegmentForm::offsets);
    Configuration settings = {{"block_threads", 64},
                              {"items_per_thread", 8},
                              {"lanes_per_segment", 16},
                              {"long_items", kLongItems},
                              {"blocks_per_multiprocessor", 4}};
    auto facts = plan_facts(problem);
    EXPECT_TRUE(message_of([&] {
                    (void)configure(stage, {settings.begin(), settings.end()}, facts);
                })
                    .ends_with("is excluded; it must hold that lanes_per_segment * items_per_thread <= "
                               "long_items"));
    facts["mean_length"] = 1000;
    EXPECT_EQ(configure(stage, {{"long_items", kLongItems}}, facts)["lanes_per_segment"], 8);
    EXPECT_EQ(configure(stage, {}, facts)["lanes_per_segment"], 32);
    settings["lanes_per_segment"] = 8;  // a row is as long as long_items
    const std::vector<std::int64_t> lengths = {63, 64, 65, 128, 3, 127, 129, 0, 100};
    const auto found = difference("trace_u64", emit(problem, stage, settings, Catalogue::standard()),
                                  {"", lengths, 100}, 32);
    EXPECT_FALSE(found) << *found;
}

/// These shapes show a bug that the shapes for all stages do not show: a lane that joins several pieces.
TEST(GroupOrGrid, SwappedPiecesOfALaneAreFound)
{
    auto emitted = text_of("trace_u64", 32);
    const std::string right = "combine(total, pieces[2 * (first_block + i) + (i == 0 ? begins_late : 0)])";
    const std::string wrong = "combine(pieces[2 * (first_block + i) + (i == 0 ? begins_late : 0)], total)";
    const auto at = emitted.source.find(right);
    ASSERT_NE(at, std::string::npos);
    emitted.source.replace(at, right.size(), wrong);
    const auto all = shapes();
    EXPECT_TRUE(std::ranges::any_of(
        all, [&](const auto& shape) { return difference("trace_u64", emitted, shape, 32).has_value(); }));
}

}  // namespace
}  // namespace segfold::test::group_or_grid_test
