// What a run takes if nobody chooses: the first stage of the order that is grown from rows, and its
// configuration.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "codegen/catalogue.h"
#include "codegen/configuration.h"
#include "dsl/check/rows.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/shape.h"

namespace segfold::rule_of_thumb_test {
namespace {

/// Returns the stage for segments by offsets. Padding in slices makes `padded` elements of the segments'
/// `elements`.
std::string taken(const std::string& op, std::int64_t elements, std::int64_t segments, std::int64_t longest,
                  std::int64_t padded)
{
    const Problem problem(standard_operator(op), SegmentForm::offsets);
    return Catalogue::standard().rule_of_thumb(problem, {elements, segments, longest, 0, padded}).name;
}

/// Segments that some threads, a block or a cluster can keep are read once; giants among others are left to
/// two launches.
TEST(RuleOfThumb, KeepsSegmentsOnTheChipUntilTheyAreMapped)
{
    const auto of_one_length = [](std::int64_t length, std::int64_t segments) {
        const Problem problem(standard_operator("softmax_f32"), SegmentForm::uniform);
        return Catalogue::standard().rule_of_thumb(problem, {length * segments, segments, length, 0, 0}).name;
    };
    for (const std::int64_t length : {32, 64, 100, 1001, 4096, 32768, 65536})
        EXPECT_EQ(of_one_length(length, (1 << 24) / length), "fused_blocks") << length;
    EXPECT_EQ(of_one_length(4, 1 << 20), "thread_per_segment");
    const Problem equal(standard_operator("softmax_f32"), SegmentForm::uniform);
    EXPECT_EQ(Catalogue::standard().rule_of_thumb(equal, {1 << 20, 1 << 10}).name, "fused_blocks")
        << "equal lengths are known by the form";
    EXPECT_EQ(taken("softmax_f32", 1000000, 1000, 2000, 0), "fused_blocks");
    EXPECT_EQ(taken("softmax_f32", 1 << 24, 1 << 22, 40, 0), "fused_tiles") << "which packs short ones";
    EXPECT_EQ(taken("softmax_f32", 1 << 24, 1 << 14, 1 << 23, 0), "warp_stream")
        << "one block would work alone";
}

/// Whatever rows a configuration was measured with, a workload gets one that it allows: an operator of a
/// larger state, a GPU of less shared memory.
TEST(RuleOfThumb, ConfigurationsAreAllowedAndFit)
{
    int count = 0;
    const auto judge = [&](const Catalogue& catalogue, const Problem& problem, const Shape& shape) {
        const auto facts = plan_facts(problem, shape);
        for (const auto& stage : catalogue.stages()) {
            if (catalogue.unmet(stage, problem, facts))
                continue;
            const auto configuration = default_configuration(stage, facts);
            const auto names = names_of(stage, configuration, facts);
            for (const auto& conditions : {stage.where, stage.fits})
                for (const auto& condition : conditions)
                    EXPECT_NE(condition.value(names), 0)
                        << stage.name << " " << print(configuration) << ": " << condition.text() << " for "
                        << problem.op.name << ", " << name(problem.form) << ", " << shape.num_elements
                        << " elements in " << shape.num_segments << " segments";
            ++count;
        }
    };
    const auto rows = parse_operator(
        "rows",
        "operator rows(x: row f16, y: row f64) -> (s: f16, p: f64) { state { s: f16 = 0; p: f64 = 1 } "
        "lift { s = x; p = y } combine(a, b) { s = a.s + b.s; p = a.p * b.p } finish { s = s; p = p } }");
    std::vector<Operator> operators = {rows};
    for (const auto* op : {"sum_i8", "sum_f32", "max_f64", "affine_u32", "mean_variance_f32", "top_eight_f32",
                           "histogram_16_i32", "matrix_3x3_f32", "softmax_f32", "softmax_f64"})
        operators.push_back(standard_operator(op));
    for (const auto& op : operators)
        for (const auto form : kSegmentForms)
            for (const std::int64_t kilobytes : {64, 99, 163, 227})
                for (const std::int64_t elements : {1000, 1 << 20, 1 << 27})
                    for (const std::int64_t segments : {std::int64_t{1}, std::int64_t{60}, elements / 7}) {
                        if (form == SegmentForm::groups && segments > 60)
                            continue;  // there may be no table of so many
                        Problem problem(op, form);
                        problem.target.block_shared_bytes = kilobytes * 1024;
                        const Shape shape{elements, segments, elements, has_rows(op) ? 6 : 0, 0};
                        judge(Catalogue::standard(), problem, shape);
                        if (kilobytes == 64)
                            judge(Catalogue::native(), problem, shape);
                    }
    EXPECT_GT(count, 10000);
}

/// For overlapping windows the mean length counts items of windows, not elements of the array.
TEST(RuleOfThumb, RangesCountWhatTheyFold)
{
    constexpr std::int64_t kWindows = 1000, kLength = 300;
    std::vector<std::int64_t> begins(kWindows), ends(kWindows);
    std::iota(begins.begin(), begins.end(), 0);
    std::iota(ends.begin(), ends.end(), kLength);
    const auto shape =
        shape_of(segments_from_ranges(Array::of<std::int64_t>(Type::i64, begins),
                                      Array::of<std::int64_t>(Type::i64, ends), kWindows + kLength));
    EXPECT_EQ(shape.num_elements, kWindows * kLength);
    const Problem problem(standard_operator("sum_f64"), SegmentForm::ranges);
    EXPECT_EQ(Catalogue::native().rule_of_thumb(problem, shape).name, "vector_per_segment");
}

}  // namespace
}  // namespace segfold::rule_of_thumb_test
