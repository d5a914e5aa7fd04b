// What native stages emit, as files that people review: the smallest operator, several fields, no identity.
#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "dsl/standard_operators.h"
#include "tests/golden.h"

namespace segfold {
namespace {

std::string text_of(const Stage& stage, const std::string& op, SegmentForm form = SegmentForm::offsets)
{
    const Problem problem(standard_operator(op), form);
    return emit(problem, stage, default_configuration(stage, plan_facts(problem)), Catalogue::native())
        .source;
}

TEST(NativeGolden, TextsAreThoseOfTheFiles)
{
    for (const auto& stage : Catalogue::native().stages())
        expect_golden("cpu_" + stage.name + "/sum_i32.cpp", text_of(stage, "sum_i32"));
    const auto& scan = Catalogue::native().stage("lane_scan");
    for (const std::string op : {"mean_variance_f32", "keep_first_i32"})
        expect_golden("cpu_lane_scan/" + op + ".cpp", text_of(scan, op));
    const auto& vector = Catalogue::native().stage("vector_per_segment");
    expect_golden("cpu_vector_per_segment/affine_u32.cpp", text_of(vector, "affine_u32"));
}

TEST(NativeGolden, TextsAreTidyAndPure)
{
    for (const auto& stage : Catalogue::native().stages())
        for (const auto* op : {"sum_f16", "any", "argmax_f32", "mean_variance_f32", "trace_u64", "dot_f64"})
            for (const auto form :
                 {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets, SegmentForm::ranges}) {
                if (Catalogue::native().unmet(stage, Problem(standard_operator(op), form)))
                    continue;
                const auto text = text_of(stage, op, form);
                EXPECT_EQ(text, text_of(stage, op, form));
                EXPECT_EQ(text.find("__device__"), std::string::npos);
                EXPECT_EQ(text.find("//%"), std::string::npos);
                EXPECT_EQ(text.find("\n\n\n"), std::string::npos);
                for (const auto& line : lines_of(text)) {
                    EXPECT_LE(line.size(), 110U) << line;
                    EXPECT_FALSE(line.ends_with(' ')) << line;
                }
            }
}

}  // namespace
}  // namespace segfold
