// Messages of failed compilations, resources, PTX, threads and the in-memory cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "dsl/error.h"
#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/library.h"
#include "tests/common/needs_nvrtc.h"

namespace segfold::cuda::nvrtc_compile_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBroken = R"(using Index = int;

extern "C" __global__ void fold(float* results, Index num_segments)
{
    const Index segment = blockIdx.x;
    results[segment] = missing;
    if (segment == num_segments)
        results[0] = 0.0f;
}
)";

std::string store(int value)
{
    return "extern \"C\" __global__ void store(int* p)\n{\n    *p = " + std::to_string(value) + ";\n}\n";
}

std::string replace(std::string text, const std::string& from, const std::string& to)
{
    for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size()))
        text.replace(i, from.size(), to);
    return text;
}

class NvrtcCompile : public test::NeedsNvrtcAndCache {
protected:
    // The message of a request that must fail, with what differs between machines replaced.
    std::string failure(const CompileRequest& request) const
    {
        try {
            (void)compile(request);
        } catch (const DeviceError& error) {
            std::string text = replace(error.what(), folder_.string(), "CACHE");
            return replace(text, "NVRTC " + nvrtc().version() + " (" + nvrtc().library.path() + ")", "NVRTC");
        }
        return "compiled";
    }
};

TEST_F(NvrtcCompile, ErrorShowsTheLineAndKeepsTheSource)
{
    EXPECT_EQ(failure({kBroken, "fold.cu", "sm_90", {}}), R"(fold.cu:6: identifier "missing" is undefined
  4 | {
  5 |     const Index segment = blockIdx.x;
> 6 |     results[segment] = missing;
  7 |     if (segment == num_segments)
  8 |         results[0] = 0.0f;
the source is kept in CACHE/segfold/failed/fold-21d71287.cu
NVRTC for sm_90 says:
fold.cu(6): error: identifier "missing" is undefined
      results[segment] = missing;
                         ^

1 error detected in the compilation of "fold.cu".)");
    std::ifstream file(folder_ / "segfold/failed/fold-21d71287.cu");
    std::stringstream kept;
    kept << file.rdbuf();
    EXPECT_EQ(kept.str(), kBroken);
}

TEST_F(NvrtcCompile, ErrorOfPtxasNamesNoLine)
{
    const std::string source =
        "extern \"C\" __global__ void fold(int* p)\n{\n    __shared__ int tile[60000];\n    "
        "tile[threadIdx.x] = 1;\n"
        "    __syncthreads();\n    *p = tile[p[1]];\n}\n";
    const std::string text = failure({source, "fold.cu", "sm_90", {}});
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "fold.cu: Entry function 'fold' uses too much shared data (0x3a980 bytes, 0xc000 max)");
    EXPECT_EQ(text.substr(text.rfind('\n') + 1),
              "ptxas error   : Entry function 'fold' uses too much shared data (0x3a980 bytes, 0xc000 max)");
}

TEST_F(NvrtcCompile, UnknownArchitectureIsNamedBesideTheKnownOnes)
{
    std::string known;
    for (const std::string& architecture : supported_architectures())
        known += (known.empty() ? "" : ", ") + architecture;
    EXPECT_EQ(failure({store(1), "store.cu", "sm_42", {}}),
              "store.cu: NVRTC does not compile for 'sm_42'; it knows " + known);
    EXPECT_EQ(failure({store(1), "store.cu", "90", {}}),
              "store.cu: NVRTC does not compile for '90'; it knows " + known);
    EXPECT_FALSE(fs::exists(folder_)) << "no source is at fault, so none is kept";
}

TEST_F(NvrtcCompile, UnknownOptionIsNamed)
{
    const std::string text = failure({store(1), "store.cu", "sm_90", {"--no-such-option"}});
    EXPECT_EQ(text.substr(0, text.find('\n')), "store.cu: unrecognized option --no-such-option found");
}

TEST_F(NvrtcCompile, WarningsComeBackInTheLog)
{
    const Compiled compiled =
        compile({"extern \"C\" __global__ void store(int* p)\n{\n    int unused = 1;\n    *p = 1;\n}\n",
                 "store.cu",
                 "sm_90",
                 {}});
    EXPECT_EQ(compiled.log.substr(0, compiled.log.find('\n')),
              "store.cu(3): warning #177-D: variable \"unused\" was declared but never referenced");
}

TEST_F(NvrtcCompile, ReportsSpillsStackAndSharedMemory)
{
    const Compiled compiled = compile({R"(
extern "C" __global__ void spill(const float* x, float* y, int n)
{
    float a[64];
    #pragma unroll
    for (int i = 0; i < 64; ++i)
        a[i] = x[i * n + threadIdx.x];
    #pragma unroll
    for (int i = 0; i < 64; ++i)
        y[i * n + threadIdx.x] = a[63 - i] * a[i];
}
extern "C" __global__ void exchange(float* x)
{
    __shared__ float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[127 - threadIdx.x];
}
)",
                                       "two.cu",
                                       "sm_90",
                                       {"--maxrregcount=24"}});
    ASSERT_EQ(compiled.resources.size(), 2u);
    const KernelResources& exchange = compiled.resources[0];
    const KernelResources& spill = compiled.resources[1];
    EXPECT_EQ(exchange, (KernelResources{"exchange", exchange.registers, 0, 0, 0, 512}));
    EXPECT_EQ(spill.kernel, "spill");
    EXPECT_EQ(spill.registers, 24);
    EXPECT_GT(spill.spill_store_bytes, 0);
    EXPECT_GT(spill.spill_load_bytes, 0);
    EXPECT_GT(spill.stack_bytes, 0);
    EXPECT_EQ(spill.static_shared_bytes, 0);
}

TEST_F(NvrtcCompile, SameRequestGivesSameBytes)
{
    const auto two = store(1) + replace(store(2), " store(", " store_too(");
    for (const auto& source : {store(1), two}) {
        const CompileRequest request{source, "store.cu", "sm_90", {}};
        EXPECT_EQ(compile(request).cubin, compile(request).cubin);
    }
}

/// Where that gives the same code, and not in a batch, which is compiled beside others.
TEST_F(NvrtcCompile, SeveralKernelsAreCompiledSideBySide)
{
    const auto splits = [](const CompileRequest& request) {
        return std::ranges::count(compile_options(request), "--split-compile=2") == 1;
    };
    const auto two = store(1) + replace(store(2), " store(", " store_too(");
    EXPECT_TRUE(splits({two, "two.cu", "sm_90", {}}));
    EXPECT_TRUE(splits({two, "two.cu", "compute_75", {}}));
    EXPECT_FALSE(splits({store(1), "one.cu", "sm_90", {}}));
    EXPECT_TRUE(splits({two, "two.cu", "sm_90a", {}}));
    EXPECT_FALSE(splits({two, "two.cu", "sm_100", {}}));
    EXPECT_FALSE(splits({two, "two.cu", "sm_100a", {}}));
    EXPECT_FALSE(splits({two, "two.cu", "compute_120", {}}));
    EXPECT_FALSE(splits({two, "batch.cu", "sm_90", {}, true}));
    EXPECT_EQ(compile({two, "two.cu", "sm_90", {}}).resources.size(), 2u);
}

TEST_F(NvrtcCompile, PtxIsText)
{
    EXPECT_NE(ptx({store(7), "store.cu", "sm_90", {}}).find(".target sm_90"), std::string::npos);
    const Compiled compiled = compile({store(7), "store.cu", "compute_90", {}});
    EXPECT_EQ(*(compiled.cubin.end() - 1), '\0');
    EXPECT_EQ(std::string(compiled.cubin.data()), ptx({store(7), "store.cu", "compute_90", {}}));
}

TEST_F(NvrtcCompile, ChoosesAnArchitectureThatTheGpuRuns)
{
    EXPECT_EQ(architecture_for(9, 0), "sm_90");
    EXPECT_EQ(architecture_for(8, 6), "sm_86");
    EXPECT_EQ(architecture_for(8, 9), "sm_89");
    const std::string newest = supported_architectures().back();
    EXPECT_EQ(architecture_for(99, 0), "compute_" + newest.substr(3)) << "a GPU of the future takes PTX";
    EXPECT_THROW((void)architecture_for(1, 0), DeviceError);
}

TEST_F(NvrtcCompile, ManyKeepTheirOrder)
{
    std::vector<CompileRequest> requests;
    for (int i = 0; i < 6; ++i)
        requests.push_back({store(i), "store.cu", "sm_90", {}});
    const std::vector<Compiled> compiled = compile_many(requests, 2);
    ASSERT_EQ(compiled.size(), requests.size());
    for (std::size_t i = 0; i < requests.size(); i += 5)
        EXPECT_EQ(compiled[i].cubin, compile(requests[i]).cubin);
    EXPECT_TRUE(compile_many({}, 2).empty());
}

TEST_F(NvrtcCompile, ManyThrowTheFirstFailureInOrder)
{
    const std::vector<CompileRequest> requests = {{store(1), "store.cu", "sm_90", {}},
                                                  {"broken first", "first.cu", "sm_90", {}},
                                                  {"broken second", "second.cu", "sm_90", {}}};
    try {
        (void)compile_many(requests, 2);
        FAIL() << "compiled";
    } catch (const DeviceError& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, 11), "first.cu:1:");
    }
}

TEST_F(NvrtcCompile, CacheCompilesOnceForAllThreads)
{
    CompileCache cache;
    std::vector<std::shared_ptr<const Compiled>> results(4);
    {
        std::vector<std::jthread> threads;
        for (auto& result : results)
            threads.emplace_back([&] { result = cache.get({store(3), "store.cu", "sm_90", {}}); });
    }
    for (const auto& result : results)
        EXPECT_EQ(result, results[0]);
    EXPECT_EQ(cache.counts().misses, 1u);
    EXPECT_EQ(cache.counts().hits, 3u);
    EXPECT_EQ(cache.get({store(3), "another_name.cu", "sm_90", {}}), results[0]);
    EXPECT_NE(cache.get({store(3), "store.cu", "sm_80", {}}), results[0]);
    EXPECT_NE(cache.get({store(3), "store.cu", "sm_90", {"--fmad=false"}}), results[0]);
    EXPECT_EQ(cache.counts().misses, 3u);
}

TEST_F(NvrtcCompile, CachePreparesEachOnThreads)
{
    CompileCache cache;
    std::vector<CompileRequest> requests;
    for (int i = 0; i < 6; ++i)
        requests.push_back({store(i % 5), "store.cu", "sm_90", {}});
    requests.push_back({kBroken, "fold.cu", "sm_90", {}});
    cache.prepare_each(requests, 2);
    EXPECT_EQ(cache.counts().misses, 6u);
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(cache.contains(requests[static_cast<std::size_t>(i)]));
        const auto compiled = cache.get(requests[static_cast<std::size_t>(i)]);
        EXPECT_EQ(compiled->cubin, compile(requests[static_cast<std::size_t>(i)]).cubin) << i;
        EXPECT_GT(compiled->seconds, 0) << "each has its own time";
    }
    EXPECT_EQ(cache.counts().misses, 6u) << "compiled again";
    EXPECT_FALSE(cache.contains(requests.back()));
    EXPECT_THROW((void)cache.get(requests.back()), DeviceError) << "whoever needs it is told";
}

TEST_F(NvrtcCompile, CacheKeepsNoFailure)
{
    CompileCache cache;
    for (int i = 0; i < 2; ++i)
        EXPECT_THROW((void)cache.get({"broken", "broken.cu", "sm_90", {}}), DeviceError);
    EXPECT_EQ(cache.counts().misses, 2u);
}

/// Words in comments leave no part of the compiler out; in code, and beside a string, they may.
TEST_F(NvrtcCompile, CommentsDoNotAskForMoreThanTheMinimum)
{
    const auto is_minimal = [](const std::string& line) {
        const auto options =
            compile_options({line + "\nextern \"C\" __global__ void k() {}\n", "k.cu", "sm_90", {}});
        return std::ranges::find(options, "--minimal") != options.end();
    };
    for (const char* line : {"", "// its own included", "int n;  // cudaMalloc is not here, nor <<<"})
        EXPECT_TRUE(is_minimal(line)) << line;
    for (const char* line : {"#include <cstdint>", "int included;", "cudaStream_t s;  // of a caller",
                             "const char* place = \"a//b\"; surface<void> s;", "/* texture */"})
        EXPECT_FALSE(is_minimal(line)) << line;
}

}  // namespace
}  // namespace segfold::cuda::nvrtc_compile_test
