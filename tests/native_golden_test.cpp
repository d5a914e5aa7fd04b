// What native stages emit, as files that people review: the smallest operator, several fields, no identity.
#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "dsl/standard_operators.h"
#include "tests/files.h"
#include "tests/golden.h"
#include "tests/row_cases.h"

namespace segfold::test {
namespace {

std::string text_of(const Stage& stage, const Operator& op, SegmentForm form = SegmentForm::offsets)
{
    const Problem problem(op, form);
    return emit(problem, stage, default_configuration(stage, plan_facts(problem)), Catalogue::native())
        .source;
}

std::string text_of(const Stage& stage, const std::string& op)
{
    return text_of(stage, standard_operator(op));
}

bool serves(const Stage& stage, const Operator& op, SegmentForm form = SegmentForm::offsets)
{
    return !Catalogue::native().unmet(stage, Problem(op, form));
}

/// Of stages over rows.
Operator affine_rows()
{
    return parse_operator("affine_rows", read_text(SEGFOLD_SOURCE_DIR "/tests/golden/affine_rows.seg"));
}

TEST(NativeGolden, TextsAreThoseOfTheFiles)
{
    for (const auto& stage : Catalogue::native().stages())
        if (serves(stage, affine_rows()))
            expect_golden("cpu_" + stage.name + "/affine_rows.cpp", text_of(stage, affine_rows()));
        else
            expect_golden("cpu_" + stage.name + "/sum_i32.cpp", text_of(stage, "sum_i32"));
    const auto& scan = Catalogue::native().stage("lane_scan");
    for (const std::string op : {"mean_variance_f32", "keep_first_i32"})
        expect_golden("cpu_lane_scan/" + op + ".cpp", text_of(scan, op));
    const auto& vector = Catalogue::native().stage("vector_per_segment");
    expect_golden("cpu_vector_per_segment/affine_u32.cpp", text_of(vector, "affine_u32"));
}

TEST(NativeGolden, TextsAreTidyAndPure)
{
    std::vector<Operator> operators = {affine_rows(), spmm(), everything_at_once()};
    for (const auto* op : {"sum_f16", "any", "argmax_f32", "mean_variance_f32", "trace_u64", "dot_f64"})
        operators.push_back(standard_operator(op));
    for (const auto& stage : Catalogue::native().stages())
        for (const auto& op : operators)
            for (const auto form :
                 {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets, SegmentForm::ranges}) {
                if (!serves(stage, op, form))
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
}  // namespace segfold::test
