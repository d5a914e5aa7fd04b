// A header-free kernel compiles without a word for every architecture that the project promises.
#include <gtest/gtest.h>

#include "dsl/error.h"
#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/library.h"

namespace segfold::cuda::nvrtc_architectures_test {
namespace {

constexpr const char* kSource = R"(
constexpr int kBlockThreads = 128;
constexpr unsigned kFullMask = 0xffffffffu;

struct State {
    int n;
    double sum;
};

__device__ __forceinline__ State combine(State earlier, State later)
{
    return {earlier.n + later.n, earlier.sum + later.sum};
}

extern "C" __global__ void __launch_bounds__(kBlockThreads)
fold(const float* __restrict__ values, State* __restrict__ results, int num_elements)
{
    __shared__ State warps[kBlockThreads / 32];
    State state = {0, 0.0};
    for (int i = blockIdx.x * kBlockThreads + threadIdx.x; i < num_elements; i += gridDim.x * kBlockThreads)
        state = combine(state, {1, values[i]});
    for (int delta = 1; delta < 32; delta *= 2)
        state = combine(state, {__shfl_down_sync(kFullMask, state.n, delta),
                                __shfl_down_sync(kFullMask, state.sum, delta)});
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = state;
    __syncthreads();
    if (threadIdx.x == 0)
        results[blockIdx.x] = combine(combine(warps[0], warps[1]), combine(warps[2], warps[3]));
}
)";

class Architecture : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        try {
            nvrtc();
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
    }
};

TEST_P(Architecture, CompilesAHeaderFreeKernelInSilence)
{
    const std::vector<std::string> known = supported_architectures();
    if (std::find(known.begin(), known.end(), GetParam()) == known.end())
        GTEST_SKIP() << "NVRTC " << nvrtc().version() << " does not know " << GetParam();
    const Compiled compiled = compile({kSource, "fold.cu", GetParam(), {}});
    EXPECT_EQ(compiled.log, "");
    ASSERT_GT(compiled.cubin.size(), 4u);
    EXPECT_EQ(std::string(compiled.cubin.data(), 4), "\177ELF");
    ASSERT_EQ(compiled.resources.size(), 1u);
    EXPECT_EQ(compiled.resources[0].kernel, "fold");
    EXPECT_EQ(compiled.resources[0].static_shared_bytes, 64);
    EXPECT_EQ(compiled.resources[0].spill_store_bytes, 0);
    EXPECT_GT(compiled.resources[0].registers, 0);
    EXPECT_GT(compiled.seconds, 0);
}

INSTANTIATE_TEST_SUITE_P(Nvrtc, Architecture,
                         testing::Values("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace segfold::cuda::nvrtc_architectures_test
