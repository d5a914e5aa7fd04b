// Variants in one program: resource reports, names, failures, and the cache that prepares them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "codegen/emit.h"
#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/ahead.h"
#include "runtime/backends/cuda/compile/compile_batch.h"
#include "runtime/backends/cuda/compile/cubin.h"
#include "runtime/backends/cuda/library.h"
#include "tests/common/brief_tests.h"
#include "tests/common/message_of.h"
#include "tests/common/needs_nvrtc.h"
#include "tests/common/stage_cases.h"

namespace segfold::cuda::compile_batch_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBroken = R"(using Index = int;

extern "C" __global__ void store(Index* p)
{
    *p = missing;
}
)";

Variant store(int value, const std::string& name = "store.cu")
{
    return {{fmt::format("extern \"C\" __global__ void store(int* p)\n{{\n    *p = {};\n}}\n", value),
             name,
             "sm_90",
             {}},
            {"store"}};
}

Variant broken() { return {{kBroken, "broken.cu", "sm_90", {}}, {"store"}}; }

Variant variant_of(const Emitted& emitted, const std::string& name)
{
    Variant variant{{emitted.source, name + ".cu", "sm_90", {}}, {}};
    for (const auto& launch : emitted.launches)
        if (std::ranges::find(variant.kernels, launch.kernel) == variant.kernels.end())
            variant.kernels.push_back(launch.kernel);
    return variant;
}

std::string message(const std::exception_ptr& failure)
{
    return test::message_of([&] { std::rethrow_exception(failure); });
}

/// The declarations of dynamic shared arrays in a text.
std::set<std::string> dynamic_arrays_of(const std::string& source)
{
    std::set<std::string> arrays;
    for (auto at = source.find("extern __shared__"); at != std::string::npos;
         at = source.find("extern __shared__", at + 1))
        arrays.insert(source.substr(at, source.find(';', at) - at));
    return arrays;
}

std::vector<BatchOutcome> outcomes_of(std::span<const Variant> variants)
{
    std::vector<BatchOutcome> outcomes(variants.size());
    std::vector<int> calls(variants.size());
    compile_batch(variants, [&](std::size_t i, BatchOutcome outcome) {
        outcomes.at(i) = std::move(outcome);
        ++calls.at(i);
    });
    EXPECT_EQ(calls, std::vector<int>(variants.size(), 1)) << "each variant is told of once";
    return outcomes;
}

class CompileBatch : public test::NeedsNvrtcAndCache {
protected:
    /// Compiles variants in batches of eight; expects one program of those that declare the same dynamic
    /// shared arrays, silently, with their kernels under the names that a module looks for.
    static std::vector<Compiled> compile_together(std::span<const Variant> variants)
    {
        constexpr std::size_t kBatch = 8;
        std::vector<Compiled> all;
        for (std::size_t begin = 0; begin < variants.size(); begin += kBatch) {
            const auto batch = variants.subspan(begin, std::min(kBatch, variants.size() - begin));
            const auto outcomes = outcomes_of(batch);
            std::map<std::set<std::string>, std::vector<const char*>> images;
            for (std::size_t i = 0; i < batch.size(); ++i) {
                const auto& [request, kernels] = batch[i];
                if (outcomes[i].failure) {
                    ADD_FAILURE() << message(outcomes[i].failure);
                    continue;
                }
                const Compiled& compiled = outcomes[i].compiled;
                EXPECT_EQ(compiled.log, "") << request.name;
                images[dynamic_arrays_of(request.source)].push_back(compiled.cubin.data());
                const auto symbols = instruction_counts(compiled.cubin);
                for (const auto& kernel : kernels)
                    EXPECT_TRUE(symbols.contains(compiled.kernel_prefix + kernel))
                        << request.name << " " << kernel;
                all.push_back(compiled);
            }
            for (const auto& [arrays, addresses] : images)
                EXPECT_EQ(std::set(addresses.begin(), addresses.end()).size(), 1u)
                    << "copied, or not in one program: eight from " << batch.front().request.name;
        }
        return all;
    }

    /// Expects of each variant in a batch what it reports when it is compiled by itself.
    static void expect_equal_reports(std::span<const Variant> variants)
    {
        const auto together = compile_together(variants);
        ASSERT_EQ(together.size(), variants.size());
        std::vector<CompileRequest> requests;
        for (const auto& variant : variants)
            requests.push_back(variant.request);
        const auto alone = compile_many(requests, 2);
        for (std::size_t i = 0; i < variants.size(); ++i) {
            const auto& name = variants[i].request.name;
            EXPECT_EQ(alone[i].resources.size(), variants[i].kernels.size()) << name;
            EXPECT_TRUE(together[i].resources == alone[i].resources) << name;
        }
    }
};

TEST_F(CompileBatch, ResourcesAreThoseOfSingleCompilation)
{
    test::Draw draw;
    for (const char* op : {"sum_f32", "affine_u32", "mean_variance_f32"}) {
        std::vector<Variant> variants;
        for (const char* name : {"thread_per_segment", "warp_per_segment", "block_per_segment", "tile_scan",
                                 "warp_stream", "tree_async", "tree_cluster"}) {
            const auto& stage = Catalogue::standard().stage(name);
            const Problem problem(standard_operator(op), SegmentForm::offsets);
            ASSERT_FALSE(Catalogue::standard().unmet(stage, problem)) << name;
            for (const auto& configuration : test::some_configurations(stage, problem, 2)) {
                const auto what = fmt::format("{} {}: {}", op, name, print(configuration));
                if (draw.takes(what))
                    variants.push_back(variant_of(emit(problem, stage, configuration), what));
            }
        }
        // Neighbours in a batch are of different stages.
        std::ranges::shuffle(variants, std::mt19937(7));
        expect_equal_reports(variants);
    }
}

TEST_F(CompileBatch, SpillsAndSharedMemoryAreThoseOfTheKernelsOwn)
{
    const auto spill = [](int values) {
        return Variant{{fmt::format(R"(constexpr int kValues = {};
__constant__ float factors[kValues];
extern "C" __global__ void __launch_bounds__(1024, 2) spill(const float* x, float* y, int n)
{{
    __shared__ float tile[kValues];
    tile[threadIdx.x % kValues] = x[threadIdx.x];
    __syncthreads();
    float a[kValues];
    #pragma unroll
    for (int i = 0; i < kValues; ++i)
        a[i] = x[i * n + threadIdx.x];
    #pragma unroll
    for (int i = 0; i < kValues; ++i)
        y[i * n + threadIdx.x] = a[kValues - 1 - i] * a[i] + tile[i] * factors[i];
}}
)",
                                    values),
                        "spill.cu",
                        "sm_90",
                        {}},
                       {"spill"}};
    };
    const std::vector<Variant> variants = {spill(8), store(1), spill(64), spill(96)};
    expect_equal_reports(variants);
    const auto compiled = compile_together(variants);
    EXPECT_EQ(compiled[0].resources.at(0).spill_store_bytes, 0);
    EXPECT_GT(compiled[2].resources.at(0).spill_store_bytes, 0);
    EXPECT_EQ(compiled[3].resources.at(0).static_shared_bytes, 384);
    EXPECT_EQ(compiled[1].resources.at(0).kernel, "store") << "its own name";
}

TEST_F(CompileBatch, EveryStageGoesTogetherWithOthers)
{
    test::Draw draw;
    for (const char* op : {"sum_f32", "affine_u32"}) {
        std::vector<Variant> variants;
        std::size_t most_kernels = 0;
        for (const auto& stage : Catalogue::standard().stages())
            for (const auto form : stage.forms) {
                const Problem problem(standard_operator(op), form);
                if (Catalogue::standard().unmet(stage, problem))
                    continue;
                const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
                const auto variant = variant_of(
                    emitted, fmt::format("{}.{}.{}", stage.name, op, std::string(segfold::name(form))));
                EXPECT_TRUE(can_share_program(variant.request)) << variant.request.name;
                most_kernels = std::max(most_kernels, variant.kernels.size());
                if (draw.takes(variant.request.name))
                    variants.push_back(variant);
            }
        EXPECT_GT(most_kernels, 1u) << "no stage with several kernels";
        std::ranges::shuffle(variants, std::mt19937(3));
        (void)compile_together(variants);
    }
}

TEST_F(CompileBatch, DynamicArraysOfOtherTypesGoTogether)
{
    const auto reverse = [](const std::string& type) {
        return Variant{{fmt::format(R"(extern "C" __global__ void reverse({0}* values)
{{
    extern __shared__ {0} tile[];
    __shared__ {0} first;
    tile[threadIdx.x] = values[threadIdx.x];
    if (threadIdx.x == 0)
        first = values[1];
    __syncthreads();
    values[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x] + first;
}}
)",
                                    type),
                        type + ".cu",
                        "sm_90",
                        {}},
                       {"reverse"}};
    };
    expect_equal_reports(std::vector<Variant>{reverse("int"), store(1), reverse("float"), store(2)});
}

TEST_F(CompileBatch, KernelsHaveNamesOfTheirOwn)
{
    const std::vector<Variant> variants = {store(1), store(2), store(3)};
    const auto compiled = compile_together(variants);
    ASSERT_EQ(compiled.size(), 3u);
    std::set<std::string> names;
    for (const auto& [name, count] : instruction_counts(compiled[0].cubin))
        names.insert(name);
    EXPECT_EQ(names, (std::set<std::string>{"variant_0_store", "variant_1_store", "variant_2_store"}));
    EXPECT_EQ(compiled[2].kernel_prefix, "variant_2_");
}

TEST_F(CompileBatch, PartsOfTheTimeAreEqual)
{
    const std::vector<Variant> variants = {store(1), store(2), store(3), store(4)};
    const auto start = std::chrono::steady_clock::now();
    const auto outcomes = outcomes_of(variants);
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    double sum = 0;
    for (const auto& outcome : outcomes) {
        EXPECT_EQ(outcome.compiled.seconds, outcomes[0].compiled.seconds);
        sum += outcome.compiled.seconds;
    }
    EXPECT_GT(sum, elapsed / 2);
    EXPECT_LE(sum, elapsed);
}

TEST_F(CompileBatch, OneBadVariantSpoilsNoOther)
{
    const std::vector<Variant> variants = {store(1), broken(), store(3)};
    const auto outcomes = outcomes_of(variants);
    ASSERT_TRUE(outcomes[1].failure);
    std::string alone;
    try {
        (void)compile(variants[1].request);
    } catch (const DeviceError& error) {
        alone = error.what();
    }
    EXPECT_EQ(message(outcomes[1].failure), alone);
    EXPECT_EQ(alone.substr(0, alone.find('\n')), "broken.cu:5: identifier \"missing\" is undefined");
    for (const std::size_t i : {0u, 2u}) {
        ASSERT_FALSE(outcomes[i].failure);
        EXPECT_EQ(outcomes[i].compiled.cubin, compile(variants[i].request).cubin) << i;
        EXPECT_EQ(outcomes[i].compiled.kernel_prefix, "") << i;
    }
    std::size_t kept = 0;
    for (const auto& file : fs::directory_iterator(folder_ / "segfold/failed"))
        kept += file.path().filename().string().starts_with("broken-") ? 1 : 100;
    EXPECT_EQ(kept, 1u) << "the source of the batch is nobody's";
}

TEST_F(CompileBatch, WarningsNameTheProgramAndItsLine)
{
    Variant warned = store(2, "a \"quoted\" name.cu");
    warned.request.source = "\n" + warned.request.source;
    warned.request.source.insert(warned.request.source.find("    *p"), "    int unused = 1;\n");
    const std::vector<Variant> variants = {store(1), warned, store(3)};
    const auto outcomes = outcomes_of(variants);
    const auto& log = outcomes[1].compiled.log;
    EXPECT_EQ(outcomes[1].compiled.kernel_prefix, "variant_1_") << "a warning parts no batch";
    EXPECT_NE(log.find(" name.cu(4): warning #177-D: variable \"unused\" was declared"), log.npos) << log;
}

TEST_F(CompileBatch, WhatCannotShareAProgramIsCompiledByItself)
{
    Variant with_macro = store(2);
    with_macro.request.source.insert(0, "#define VALUE 2\n");
    Variant without_fusion = store(3);
    without_fusion.request.extra_options = {"--fmad=false"};
    Variant older = store(4);
    older.request.architecture = "sm_80";
    const std::vector<Variant> variants = {store(1), with_macro, without_fusion, older, store(5)};
    const auto outcomes = outcomes_of(variants);
    for (const std::size_t i : {1u, 2u, 3u}) {
        EXPECT_EQ(outcomes[i].compiled.kernel_prefix, "") << i;
        EXPECT_EQ(outcomes[i].compiled.cubin, compile(variants[i].request).cubin) << i;
    }
    EXPECT_EQ(outcomes[4].compiled.kernel_prefix, "variant_1_");
    EXPECT_EQ(outcomes[4].compiled.cubin.data(), outcomes[0].compiled.cubin.data());
    EXPECT_TRUE(outcomes_of({}).empty());
}

TEST(CompileBatchSource, OnlyUnrollingIsADirectiveToShare)
{
    const auto shares = [](const std::string& source) {
        return can_share_program({source, "a.cu", "sm_90", {}});
    };
    EXPECT_TRUE(shares("int f(int* p)\n{\n    #pragma unroll\n    for (;;) {}\n}\n"));
    EXPECT_FALSE(shares("#define VALUE 2\n"));
    EXPECT_FALSE(shares("%:define VALUE 2\n"));
    EXPECT_FALSE(shares("/* */ #undef VALUE\n"));
    EXPECT_FALSE(shares("#pragma nv_diag_suppress 177\n"));
    EXPECT_FALSE(shares("#include <cub/cub.cuh>\n"));
    EXPECT_FALSE(shares("const char* date = __DATE__;\n"));
}

TEST(CompileBatchSource, PlansAreDealtToThreads)
{
    const auto sizes = [](std::size_t count, std::size_t threads, std::size_t text_bytes = 10) {
        std::vector<Variant> variants;
        for (std::size_t i = 0; i < count; ++i)
            variants.push_back({{std::string(text_bytes, ' '), std::to_string(i), "sm_90", {}}, {}});
        std::vector<std::size_t> result;
        std::size_t next = 0;
        for (const auto& batch : cuda::batches_of(variants, threads)) {
            for (const auto& variant : batch)
                EXPECT_EQ(variant.request.name, std::to_string(next++));
            result.push_back(batch.size());
        }
        EXPECT_EQ(next, count);
        return result;
    };
    using Sizes = std::vector<std::size_t>;
    EXPECT_EQ(sizes(0, 2), Sizes());
    EXPECT_EQ(sizes(1, 2), Sizes{1});
    EXPECT_EQ(sizes(2, 2), (Sizes{1, 1}));
    EXPECT_EQ(sizes(8, 2), (Sizes{1, 4, 3}));
    EXPECT_EQ(sizes(32, 2), (Sizes{1, 8, 8, 8, 7}));
    EXPECT_EQ(sizes(32, 8), (Sizes{1, 4, 4, 4, 4, 4, 4, 4, 3}));
    EXPECT_EQ(sizes(6, 1, 15'000), (Sizes{1, 3, 2}));
    EXPECT_EQ(sizes(4, 1, 100'000), (Sizes{1, 1, 1, 1}));
}

TEST(CompileBatchSource, StandsInNamespacesWithItsOwnLines)
{
    EXPECT_EQ(batch_source(std::vector<Variant>{{{"first\n", "a.cu", "sm_90", {}}, {"fold", "join"}},
                                                {{"second", "b\\\"c.cu", "sm_90", {}}, {"fold"}}}),
              R"(#define fold variant_0_fold
#define join variant_0_join
namespace variant_0 {
#line 1 "a.cu"
first

}
#undef fold
#undef join
#define fold variant_1_fold
namespace variant_1 {
#line 1 "b\\\"c.cu"
second
}
#undef fold
)");
}

TEST_F(CompileBatch, CacheGivesWhatIsPrepared)
{
    CompileCache cache;
    const auto before = cache.get(store(1).request);
    const std::vector<Variant> variants = {store(1), store(2), store(3), store(2)};
    EXPECT_FALSE(cache.contains(variants[1].request));
    cache.prepare(variants);
    EXPECT_TRUE(cache.contains(variants[1].request));
    EXPECT_EQ(cache.counts().misses, 3u);
    EXPECT_EQ(cache.get(variants[0].request), before);
    const auto second = cache.get(variants[1].request);
    const auto third = cache.get(variants[2].request);
    EXPECT_EQ(cache.counts().misses, 3u);
    EXPECT_EQ(second->kernel_prefix, "variant_0_");
    EXPECT_EQ(third->kernel_prefix, "variant_1_");
    EXPECT_EQ(second->cubin.data(), third->cubin.data()) << "copied";
    cache.prepare(variants);
    EXPECT_EQ(cache.get(variants[1].request), second);
}

TEST_F(CompileBatch, CacheTellsOfTheBadVariantOnly)
{
    CompileCache cache;
    cache.prepare(std::vector<Variant>{store(1), broken(), store(3)});
    EXPECT_TRUE(cache.contains(store(1).request));
    EXPECT_TRUE(cache.contains(store(3).request));
    EXPECT_FALSE(cache.contains(broken().request)) << "failures are not kept";
    EXPECT_THROW((void)cache.get(broken().request), DeviceError);
    EXPECT_EQ(cache.counts().misses, 4u);
}

TEST_F(CompileBatch, ExpectedPlansGoTogetherButForTheFirst)
{
    CompileCache cache;
    cuda::Ahead ahead(cache, 2);
    std::vector<Variant> variants;
    for (int i = 0; i < 7; ++i)
        variants.push_back(store(i));
    variants.push_back(broken());
    variants.push_back(store(7));
    ahead.add(variants);
    for (const int last : {0, 3, 7})
        while (!cache.contains(store(last).request))
            std::this_thread::yield();
    EXPECT_EQ(cache.get(store(0).request)->kernel_prefix, "");
    for (int i = 1; i <= 4; ++i)
        EXPECT_EQ(cache.get(store(i).request)->kernel_prefix, fmt::format("variant_{}_", i - 1));
    for (int i = 5; i <= 7; ++i)
        EXPECT_EQ(cache.get(store(i).request)->kernel_prefix, "") << "beside one that does not compile";
    EXPECT_EQ(cache.counts().misses, 9u) << "compiled twice";
}

TEST_F(CompileBatch, ExpectedPlansOfOneTextTakeOnePlaceInABatch)
{
    CompileCache cache;
    cuda::Ahead ahead(cache, 1);
    // The first goes by itself, the others are eight at most.
    std::vector<Variant> variants = {store(0)};
    for (int i = 1; i <= 8; ++i)
        variants.insert(variants.end(), 3, store(i));
    ahead.add(variants);
    while (!cache.contains(store(8).request))
        std::this_thread::yield();
    for (int i = 1; i <= 8; ++i)
        EXPECT_EQ(cache.get(store(i).request)->kernel_prefix, fmt::format("variant_{}_", i - 1));
    EXPECT_EQ(cache.counts().misses, 9u);
}

TEST_F(CompileBatch, WhoAsksWhileABatchIsUnderWayWaitsForIt)
{
    CompileCache cache;
    std::vector<Variant> variants;
    for (int i = 0; i < 8; ++i)
        variants.push_back(store(i));
    variants.push_back(broken());
    std::jthread preparing([&] { cache.prepare(variants); });
    while (!cache.contains(variants[7].request))
        std::this_thread::yield();
    EXPECT_EQ(cache.get(variants[7].request)->resources.at(0).kernel, "store");
    preparing.join();
    EXPECT_EQ(cache.counts().hits, 1u);
    EXPECT_EQ(cache.counts().misses, 9u) << "compiled twice";
}

}  // namespace
}  // namespace segfold::cuda::compile_batch_test
