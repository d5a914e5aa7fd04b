// Reading compiler logs, and keeping sources that failed; needs no compiler.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/backends/cuda/compile/compile_error.h"
#include "runtime/backends/cuda/compile/resource_report.h"
#include "tests/common/files.h"

namespace segfold::cuda::cuda_compile_error_test {
namespace {

namespace fs = std::filesystem;

TEST(CudaCompileError, FindsTheFirstErrorOfTheProgram)
{
    const LoggedError error = first_error(
        "scan.cu(3): warning #177-D: variable \"error\" was declared but never referenced\n"
        "scan.cu(12): error: expected a \";\"\n\nscan.cu(14): error: another\n",
        "scan.cu");
    EXPECT_EQ(error.line, 12u);
    EXPECT_EQ(error.text, "expected a \";\"");
}

TEST(CudaCompileError, AnErrorWithoutAPlaceHasLineZero)
{
    const LoggedError error =
        first_error("nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n", "scan.cu");
    EXPECT_EQ(error.line, 0u);
    EXPECT_EQ(error.text, "failed to open libnvrtc-builtins.so.13.0.");
    EXPECT_EQ(first_error("ptxas fatal   : Unresolved extern function 'f'\n", "scan.cu").text,
              "Unresolved extern function 'f'");
    EXPECT_EQ(first_error("", "scan.cu").text, "");
}

TEST(CudaCompileError, ExcerptStopsAtBothEnds)
{
    EXPECT_EQ(excerpt("one\n\nthree", 1), "> 1 | one\n  2 |\n  3 | three\n");
    EXPECT_EQ(excerpt("one\n\nthree\n", 3), "  1 | one\n  2 |\n> 3 | three\n");
    EXPECT_EQ(excerpt("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11", 9),
              "   7 | 7\n   8 | 8\n>  9 | 9\n  10 | 10\n  11 | 11\n");
    EXPECT_EQ(excerpt("one\n", 2), "");
}

class KeptSource : public testing::Test {
protected:
    void SetUp() override
    {
        cache_ =
            fs::path(testing::TempDir()) / (std::string("cuda_compile_error_test_") +
                                            testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(cache_);
        setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
    }
    void TearDown() override
    {
        unsetenv("XDG_CACHE_HOME");
        fs::remove_all(cache_);
    }

    fs::path cache_;
};

TEST_F(KeptSource, HasOnePathPerSourceInAPrivateFolder)
{
    const fs::path path = keep_failed_source("a stage/../x.cu", "text");
    EXPECT_EQ(path.parent_path(), cache_ / "segfold/failed");
    EXPECT_EQ(path.filename(), "a_stage____x-3b8ba7c7.cu");
    EXPECT_EQ(keep_failed_source("a stage/../x.cu", "text"), path);
    EXPECT_NE(keep_failed_source("a stage/../x.cu", "other"), path);
    EXPECT_EQ(fs::status(path.parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(KeptSource, IsReplacedWhole)
{
    const fs::path path = keep_failed_source("x.cu", "text");
    std::ofstream(path) << "of another program";
    // Whoever has the file open reads on in the text that it had.
    const fs::path read = cache_ / "read";
    fs::create_hard_link(path, read);
    EXPECT_EQ(keep_failed_source("x.cu", "text"), path);
    EXPECT_EQ(segfold::read_text(path.string()), "text");
    EXPECT_EQ(segfold::read_text(read.string()), "of another program");
    EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1);
}

TEST_F(KeptSource, OldestGoWhenThereAreTooMany)
{
    const fs::path first = keep_failed_source("first", "0");
    fs::last_write_time(first, fs::file_time_type::clock::now() - std::chrono::hours(1));
    for (int i = 1; i <= 100; ++i)
        (void)keep_failed_source("later", std::to_string(i));
    EXPECT_FALSE(fs::exists(first));
    EXPECT_EQ(std::distance(fs::directory_iterator(first.parent_path()), {}), 100);
}

TEST_F(KeptSource, AMessageComesOutWhereNothingCanBeWritten)
{
    std::ofstream(cache_) << "a file where the folder should be";
    EXPECT_EQ(keep_failed_source("scan.cu", "text"), "");
    EXPECT_EQ(compile_failure("scan.cu", "text\n", "COMPILER", "scan.cu(1): error: what\n"),
              "scan.cu:1: what\n> 1 | text\nthe source could not be kept: " + cache_.string() +
                  "/segfold/failed cannot be written\nCOMPILER says:\nscan.cu(1): error: what");
}

TEST(CudaResourceReport, ReadsTheReportsOfCuda13And12)
{
    const auto [kernels, rest] = split_resource_report(
        "store.cu(3): warning #177-D: variable \"unused\" was declared\n\n"
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
        "ptxas info    : Function properties for second\n"
        "ptxas         .     744 bytes stack frame, 792 bytes spill stores, 892 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 1 barriers, 800 bytes cumulative stack size, 512 bytes "
        "smem\n"
        "ptxas info    : Compile time = 17.850 ms\n"
        "ptxas info    : Function properties for helper\n"
        "ptxas         .     16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
        "ptxas info    : Function properties for first\n"
        "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 10 registers, 400 bytes cmem[0]\n"
        "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n");
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0], (KernelResources{"first", 10, 0, 0, 8, 0}));
    EXPECT_EQ(kernels[1], (KernelResources{"second", 32, 792, 892, 800, 512}));
    EXPECT_EQ(
        rest,
        "store.cu(3): warning #177-D: variable \"unused\" was declared\n\n"
        "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized");
}

TEST(CudaResourceReport, AnEmptyLogHasNoKernels)
{
    const auto [kernels, rest] = split_resource_report("\n");
    EXPECT_TRUE(kernels.empty());
    EXPECT_EQ(rest, "");
}

}  // namespace
}  // namespace segfold::cuda::cuda_compile_error_test
