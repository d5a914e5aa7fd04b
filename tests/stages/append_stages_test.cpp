// Stages that fold by append, on the fiber executor: operators whose bits show the order of elements, over
// segments at every border.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::append_stages_test {
namespace {

struct AppendCase {
    std::string stage;
    std::string op;
    LayoutKind kind = LayoutKind::offsets;
    int index_bits = 32;
    Configuration other = {};  ///< tunables that differ from the smallest configuration
    Numbers numbers = Numbers::constant;
};

class AppendingStages : public testing::TestWithParam<AppendCase> {};

TEST_P(AppendingStages, AgreeWithTheReference)
{
    const auto& param = GetParam();
    const auto& stage = Catalogue::standard().stage(param.stage);
    const Problem problem(matrix_operator(param.op), form_of(param.kind), param.index_bits);
    auto configuration = smallest_configuration(stage, problem);
    for (const auto& [name, value] : param.other)
        configuration[name] = value;
    const auto emitted = emit(problem, stage, configuration, Catalogue::standard(), param.numbers);
    EXPECT_NE(emitted.source.find("State append("), std::string::npos)
        << "the stage folds by combine and lift";
    const auto [block, tile] = block_and_tile(configuration);
    std::uint64_t seed = 1;
    for (const auto& shape : segment_cases(param.kind, block, tile, problem.op.allows_empty())) {
        const auto workload = make_workload(matrix_operator(param.op),
                                            with_index_bits(shape.segments.copy(), param.index_bits), 11, 1);
        const auto results = simt::run(workload, emitted, simt::options_from_seed(seed), {},
                                       seed % 2 == 0 ? 64 : 1, seed % 3 == 0 ? 2 : 1);
        const auto comparison = Judge(workload).compare(results);
        ASSERT_TRUE(comparison.agrees())
            << shape.name << ", seed " << seed << ": " << segfold::print(comparison);
        ++seed;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Each, AppendingStages,
    testing::Values(AppendCase{"lean_stream", "appended_hash"}, AppendCase{"lean_stream", "appended_pair"},
                    AppendCase{"lean_stream",
                               "argmax_f32",
                               LayoutKind::offsets,
                               64,
                               {{"byte_marks", 1}, {"items_per_thread", 16}}},
                    AppendCase{"lean_stream", "moments_f32"},
                    AppendCase{
                        "warp_stream", "appended_hash", LayoutKind::offsets, 32, {}, Numbers::at_launch},
                    AppendCase{"warp_stream", "appended_pair", LayoutKind::uniform},
                    AppendCase{"thread_per_segment", "appended_hash", LayoutKind::uniform},
                    AppendCase{"thread_per_segment", "appended_pair"},
                    AppendCase{"warp_per_segment", "appended_hash"},
                    AppendCase{"warp_per_segment", "argmax_last_f32", LayoutKind::ranges},
                    AppendCase{"group_per_segment", "appended_pair"},
                    AppendCase{"block_per_segment", "appended_hash", LayoutKind::ranges},
                    AppendCase{"block_per_segment", "argmin_i32"},
                    AppendCase{"grid_reduce", "appended_hash", LayoutKind::whole}),
    [](const auto& info) {
        return info.param.stage + "_" + info.param.op + "_" + std::string(name(info.param.kind));
    });

/// Sums of bytes, in stages that read words and in stages that do not. One instruction may add four bytes.
TEST(AppendingStages, SumBytes)
{
    const std::vector<std::pair<std::string, Configuration>> cases = {
        {"lean_stream", {{"items_per_thread", 8}}},
        {"lean_stream", {{"items_per_thread", 64}, {"held_totals", 256}, {"ring_offsets", 256}}},
        {"warp_stream", {{"items_per_thread", 16}}},
        {"group_per_segment", {{"vector_items", 16}, {"lanes_per_segment", 1}}},
        {"group_per_segment", {{"vector_items", 8}, {"lanes_per_segment", 4}}},
        {"group_per_segment", {{"vector_items", 4}}},
        {"thread_per_segment", {}},
        {"warp_per_segment", {{"items_per_thread", 8}}},
        {"block_per_segment", {{"items_per_thread", 8}}}};
    for (const auto& [element, state] :
         {std::pair{"i8", "i32"}, std::pair{"u8", "u32"}, std::pair{"i8", "u32"}, std::pair{"u8", "i32"}}) {
        const auto op =
            parse_operator("wide.seg", fmt::format("operator wide(x: {0}) -> {1} {{ state sum: {1} "
                                                   "= 0 lift {1}(x) combine(a, b) a + b }}",
                                                   element, state));
        const Problem problem(op, SegmentForm::offsets);
        std::uint64_t seed = 1;
        for (const auto& [name, other] : cases) {
            const auto& stage = Catalogue::standard().stage(name);
            auto configuration = smallest_configuration(stage, problem);
            for (const auto& [tunable, value] : other)
                configuration[tunable] = value;
            const auto emitted = emit(problem, stage, configuration);
            const auto [block, tile] = block_and_tile(configuration);
            for (const auto& shape : segment_cases(LayoutKind::offsets, block, tile, true)) {
                Workload workload;
                workload.op = op;
                workload.segments = shape.segments.copy();
                workload.arrays.push_back(generate_values(
                    op.parameters[0].type, workload.segments.num_elements, seed, ValueRange::uniform));
                const auto results = simt::run(workload, emitted, simt::options_from_seed(seed), {},
                                               seed % 2 == 0 ? 64 : 1, 1, static_cast<int>(seed % 3));
                const auto comparison = Judge(workload).compare(results);
                ASSERT_TRUE(comparison.agrees())
                    << element << ", " << name << ", " << shape.name << ": " << segfold::print(comparison);
                ++seed;
            }
        }
    }
}

/// A stage that folds strictly from left to right must give the reference's bits, so it must not append if
/// append rounds differently.
TEST(AppendingStages, ThoseInOrderKeepTheReferencesBits)
{
    const auto text = [](const char* op, const char* stage) {
        const Problem problem(standard_operator(op), SegmentForm::offsets);
        const auto& found = Catalogue::standard().stage(stage);
        return emit(problem, found, smallest_configuration(found, problem)).source;
    };
    EXPECT_EQ(text("mean_variance_f32", "thread_per_segment").find("State append("), std::string::npos);
    EXPECT_NE(text("mean_variance_f32", "block_per_segment").find("State append("), std::string::npos);
    EXPECT_NE(text("argmax_f32", "thread_per_segment").find("State append("), std::string::npos);
}

}  // namespace
}  // namespace segfold::test::append_stages_test
