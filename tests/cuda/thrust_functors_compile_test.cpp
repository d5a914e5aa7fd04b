// What Thrust's CUDA system runs for each element, through nvcc; skipped where there is none.
#include <gtest/gtest.h>

#include "runtime/measure/bench/peers/peer_library.h"
#include "runtime/support/processes/process.h"
#include "tests/common/files.h"

namespace segfold::bench::thrust_functors_compile_test {
namespace {

/// nvcc puts a trap, without a word, where a constexpr function calls one that only the host has.
TEST(ThrustFunctorsCompile, CallNoFunctionOfTheHost)
{
    const PeerToolkit toolkit;
    if (!toolkit.reason().empty())
        GTEST_SKIP() << toolkit.reason();
    const TemporaryFolder folder;
    const auto text = folder.write("functors.cu", R"(
#include "runtime/backends/thrust/functors.h"

using namespace segfold;

__global__ void lift_all(const JobView* job, Slot<double>* state)
{
    lift_element(*job, 0, threadIdx.x, state);
}

__global__ void combine_all(const JobView* job, const Slot<double>* states, Slot<double>* state)
{
    combine_states(*job, states, states + job->state_fields, state);
}

__global__ void finish_all(const JobView* job, const Slot<double>* state)
{
    finish_run(*job, threadIdx.x, state);
}
)");
    const auto result = run_process({toolkit.nvcc().string(), "-ptx", "-arch=compute_75", "-std=c++20",
                                     "--expt-relaxed-constexpr", "-Werror", "all-warnings",
                                     "-I" SEGFOLD_SOURCE_DIR, "-o", folder.file("functors.ptx"), text});
    ASSERT_EQ(result.status, 0) << result.output;
    const auto ptx = read_text(folder.file("functors.ptx"));
    ASSERT_NE(ptx.find(".entry"), std::string::npos) << ptx.substr(0, 200);
    EXPECT_EQ(ptx.find("trap;"), std::string::npos);
}

}  // namespace
}  // namespace segfold::bench::thrust_functors_compile_test
