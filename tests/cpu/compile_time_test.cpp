// How long compilers are expected to take.
#include "runtime/backends/compile_time.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/catalogue.h"
#include "codegen/emit.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/backend.h"
#include "tests/common/files.h"

namespace segfold::compile_time_test {
namespace {

Emitted text_of(const Catalogue& catalogue, const char* stage, const char* op = "sum_f32")
{
    const Problem problem(standard_operator(op), SegmentForm::offsets);
    const auto& found = catalogue.stage(stage);
    return emit(problem, found, default_configuration(found, plan_facts(problem)), catalogue);
}

TEST(CompileTime, CountsCodeAlone)
{
    const CompileModel model{1, 0.5};
    EXPECT_EQ(expected_compile_seconds("", model), 1);
    EXPECT_EQ(expected_compile_seconds("a = b;", model), 4);
    EXPECT_EQ(expected_compile_seconds("// why\n\n   a  =\n   b;  // what", model), 4.5) << "a blank ends it";
    EXPECT_EQ(expected_compile_seconds("a = b;//", model), 4);
}

/// Within half of what was measured, in processor seconds on an AMD EPYC.
TEST(CompileTime, IsThatOfTheCompilers)
{
    const auto nvrtc = [](const char* stage) {
        return expected_compile_seconds(text_of(Catalogue::standard(), stage).source, kNvrtcModel);
    };
    EXPECT_NEAR(nvrtc("thread_per_segment"), 0.056, 0.028);
    EXPECT_NEAR(nvrtc("tile_scan"), 0.13, 0.065);
    EXPECT_NEAR(nvrtc("warp_stream"), 0.294, 0.147);
    const auto host = [](const char* stage) {
        return expected_compile_seconds(text_of(Catalogue::native(), stage).source, kHostCompilerModel);
    };
    EXPECT_NEAR(host("lane_per_segment"), 0.109, 0.055);
    EXPECT_NEAR(host("lane_scan"), 0.425, 0.213);
}

/// What is compiled in this process takes no time, and what is not takes some. Texts of simt take none.
TEST(CompileTime, IsNothingForWhatIsCompiled)
{
    const auto cpu = make_backend("cpu");
    if (cpu->interprets())
        GTEST_SKIP() << cpu->note();
    auto emitted = text_of(Catalogue::native(), "lane_per_segment", "gcd_u32");
    emitted.source += "\n// " + std::to_string(getpid()) + ", so that no cache has it\n";
    EXPECT_GT(cpu->seconds_to_compile(emitted), 0.05);
    cpu->compile_all(std::vector{emitted});
    EXPECT_EQ(cpu->seconds_to_compile(emitted), 0);
    EXPECT_EQ(make_backend("simt")->seconds_to_compile(emitted), 0);
    auto wrong = emitted;
    wrong.source = "this is no C++ " + std::to_string(getpid());
    cpu->compile_all(std::vector{wrong});  // fails no caller
    EXPECT_GT(cpu->seconds_to_compile(wrong), 0);
}

}  // namespace
}  // namespace segfold::compile_time_test
