// Native texts under the address, undefined behaviour and thread sanitizers, in the program itself.
#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/support/processes/process.h"
#include "tests/cli/cli_program.h"
#include "tests/common/brief_tests.h"

namespace segfold::test::native_sanitize_test {
namespace {

struct Case {
    std::string name, sanitizer, library;
};

class NativeTexts : public testing::TestWithParam<Case> {
protected:
    /// Folds with the native stage, compiled for the sanitizer; `flags` are those of `segfold run`. A text
    /// that several layouts have is compiled once.
    void expect_clean(const std::string& library, const std::string& op, const std::string& stage,
                      const std::vector<std::string>& flags) const
    {
        std::vector<std::string> command = {
            "/usr/bin/env",
            "LD_PRELOAD=" + library,
            "ASAN_OPTIONS=detect_leaks=0",
            "TSAN_OPTIONS=report_bugs=1",
            "SEGFOLD_CACHE=on",
            "SEGFOLD_CACHE_DIR=" + folder_.file("cache"),
            "CXX=g++ -O1 -fno-sanitize-recover -fsanitize=" + GetParam().sanitizer,
            SEGFOLD_PROGRAM,
            "run",
            op,
            "--backend",
            "cpu",
            "--stage",
            stage};
        command.insert(command.end(), flags.begin(), flags.end());
        const auto result = run_process(command);
        EXPECT_EQ(result.status, 0) << op << " " << stage << "\n" << result.output;
        EXPECT_EQ(result.output.find("WARNING: ThreadSanitizer"), std::string::npos) << result.output;
    }

private:
    TemporaryFolder folder_;
};

/// The sanitizer's library; empty where it is not installed, nor a compiler.
std::string library_of(const Case& param)
{
    const auto compiler = find_program("g++");
    if (!compiler)
        return "";
    auto library = run_process({*compiler, "-print-file-name=" + param.library}).output;
    library.erase(library.find_last_not_of('\n') + 1);
    return std::filesystem::exists(library) && library != param.library ? library : "";
}

TEST_P(NativeTexts, PassTheSanitizer)
{
    const auto library = library_of(GetParam());
    if (library.empty())
        GTEST_SKIP() << GetParam().library << " is not installed";
    // What threads share are borders, whatever the state: for them one field and two, an array, and map.
    Draw draw;
    const bool is_of_threads = GetParam().sanitizer == "thread";
    for (const std::string& op :
         is_of_threads ? std::vector<std::string>{"sum_f32", "trace_u64", "top_four_f32", "centre_f32"}
                       : std::vector<std::string>{"sum_f32", "mean_variance_f32", "trace_u64", "max_f16",
                                                  "top_four_f32", "sum_power_f64", "centre_f32"})
        for (const std::string stage : {"lane_per_segment", "vector_per_segment", "lane_scan", "row_tree"}) {
            if (!draw.takes(op + " " + stage))
                continue;
            for (const std::string layout : {"half_empty:mean=8", "giant:half"})
                expect_clean(library, op, stage,
                             {"--set", "share_steps=1024", "--layout", layout, "--elements", "9999"});
        }
}

TEST_P(NativeTexts, PassTheSanitizerOverRows)
{
    const auto library = library_of(GetParam());
    if (library.empty())
        GTEST_SKIP() << GetParam().library << " is not installed";
    const std::string op = SEGFOLD_SOURCE_DIR "/tests/golden/told_rows.seg";
    for (const std::string features : {"1", "8", "13", "100"})
        for (const std::string layout : {"half_empty:mean=8", "giant:half"})
            expect_clean(library, op, "lane_per_feature",
                         {"--set", "share_steps=256", "--layout", layout, "--elements", "999", "--features",
                          features});
}

INSTANTIATE_TEST_SUITE_P(Sanitizers, NativeTexts,
                         testing::Values(Case{"AddressAndUndefined", "address,undefined", "libasan.so"},
                                         Case{"Thread", "thread", "libtsan.so"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace segfold::test::native_sanitize_test
