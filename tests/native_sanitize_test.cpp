// Native texts under the address, undefined behaviour and thread sanitizers, in the program itself.
#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/support/process.h"
#include "tests/cli_program.h"

namespace segfold::test {
namespace {

struct Case {
    std::string name, sanitizer, library;
};

class NativeTexts : public testing::TestWithParam<Case> {};

TEST_P(NativeTexts, PassTheSanitizer)
{
    const auto& param = GetParam();
    const auto compiler = find_program("g++");
    if (!compiler)
        GTEST_SKIP() << "no g++ on PATH";
    auto library = run_process({*compiler, "-print-file-name=" + param.library}).output;
    library.erase(library.find_last_not_of('\n') + 1);
    if (!std::filesystem::exists(library) || library == param.library)
        GTEST_SKIP() << param.library << " is not installed";
    for (const std::string op :
         {"sum_f32", "mean_variance_f32", "trace_u64", "max_f16", "top_four_f32", "sum_power_f64"})
        for (const std::string stage : {"lane_per_segment", "vector_per_segment", "lane_scan", "row_tree"})
            for (const std::string layout : {"half_empty:mean=8", "giant:half"}) {
                const auto result =
                    run_process({"/usr/bin/env", "LD_PRELOAD=" + library, "ASAN_OPTIONS=detect_leaks=0",
                                 "TSAN_OPTIONS=report_bugs=1", "SEGFOLD_CACHE=off",
                                 "CXX=g++ -O1 -fno-sanitize-recover -fsanitize=" + param.sanitizer,
                                 SEGFOLD_PROGRAM, "run", op, "--backend", "cpu", "--stage", stage, "--set",
                                 "share_steps=1024", "--layout", layout, "--elements", "9999"});
                EXPECT_EQ(result.status, 0) << op << " " << stage << " " << layout << "\n" << result.output;
                EXPECT_EQ(result.output.find("WARNING: ThreadSanitizer"), std::string::npos) << result.output;
            }
}

INSTANTIATE_TEST_SUITE_P(Sanitizers, NativeTexts,
                         testing::Values(Case{"AddressAndUndefined", "address,undefined", "libasan.so"},
                                         Case{"Thread", "thread", "libtsan.so"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace segfold::test
