// Kernels without faults pass every check and compute the right values under every schedule.
#include <algorithm>
#include <numeric>

#include "tests/simt_kernels/run.h"

namespace segfold::simt::simt_correct_test {
namespace {

std::vector<unsigned> counting(std::size_t count)
{
    std::vector<unsigned> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<unsigned>(i * 2654435761u >> 7);
    return values;
}

std::string describe(const Options& options)
{
    return std::string(name(options.schedule)) + ", blocks " + std::string(name(options.block_order)) +
           ", seed " + std::to_string(options.seed) + ", OS threads " + std::to_string(options.os_threads);
}

TEST(SimtCorrect, VectorAddWithPartialLastBlock)
{
    const Program program = compile(kernel_text("vector_add.cu"), {"vector_add", "vector_add4"});
    for (const Options& options : many_options()) {
        Buffer a("a", 1000 * 4), b("b", 1000 * 4), sums("sums", 1000 * 4);
        std::iota(a.as<float>().begin(), a.as<float>().end(), 0.0f);
        std::iota(b.as<float>().begin(), b.as<float>().end(), 0.5f);
        const Arguments arguments(a.data(), b.data(), sums.data(), 1000);
        program.launch("vector_add", {.grid_x = 8, .block_x = 128}, arguments, options);
        for (int i = 0; i < 1000; ++i)
            ASSERT_EQ(sums.as<float>()[i], static_cast<float>(2 * i) + 0.5f) << describe(options);
        std::ranges::fill(sums.as<float>(), 0.0f);
        program.launch("vector_add4", {.grid_x = 2, .block_x = 128}, arguments, options);
        for (int i = 0; i < 1000; ++i)
            ASSERT_EQ(sums.as<float>()[i], static_cast<float>(2 * i) + 0.5f) << describe(options);
    }
}

TEST(SimtCorrect, BlockReduceThroughSharedMemory)
{
    const Program program = compile(kernel_text("block_reduce.cu"), {"block_reduce"});
    const auto values = counting(6 * 3 * 256);
    for (const Options& options : many_options()) {
        Buffer input = upload<unsigned>("values", values), sums("sums", 6 * 4);
        program.launch("block_reduce", {.grid_x = 6, .block_x = 256}, Arguments(input.data(), sums.data(), 3),
                       options);
        for (int block = 0; block < 6; ++block)
            ASSERT_EQ(sums.as<unsigned>()[block],
                      std::accumulate(values.begin() + block * 768, values.begin() + (block + 1) * 768, 0u))
                << describe(options);
    }
}

TEST(SimtCorrect, WarpReduceByShufflesKeepsLaneOrder)
{
    const Program program = compile(kernel_text("warp_reduce.cu"), {"warp_reduce"});
    const auto maps = counting(2 * 5 * 64);
    for (const Options& options : many_options()) {
        Buffer input = upload<unsigned>("maps", maps), results("results", 10 * 8);
        program.launch("warp_reduce", {.grid_x = 5, .block_x = 64}, Arguments(input.data(), results.data()),
                       options);
        for (int warp = 0; warp < 10; ++warp) {
            unsigned scale = 1, shift = 0;
            for (int i = 32 * warp; i < 32 * warp + 32; ++i) {
                shift = maps[2 * i] * shift + maps[2 * i + 1];
                scale = maps[2 * i] * scale;
            }
            ASSERT_EQ(results.as<unsigned>()[2 * warp], scale) << describe(options);
            ASSERT_EQ(results.as<unsigned>()[2 * warp + 1], shift) << describe(options);
        }
    }
}

TEST(SimtCorrect, WarpTreeInSharedMemory)
{
    const Program program = compile(kernel_text("warp_tree.cu"), {"warp_tree"});
    const auto values = counting(5 * 64);
    for (const Options& options : many_options()) {
        Buffer input = upload<unsigned>("values", values), sums("sums", 10 * 4);
        program.launch("warp_tree", {.grid_x = 5, .block_x = 64}, Arguments(input.data(), sums.data()),
                       options);
        for (int warp = 0; warp < 10; ++warp)
            ASSERT_EQ(sums.as<unsigned>()[warp],
                      std::accumulate(values.begin() + warp * 32, values.begin() + warp * 32 + 32, 0u))
                << describe(options);
    }
}

TEST(SimtCorrect, LastBlockSumsThePartials)
{
    const Program program = compile(kernel_text("last_block.cu"), {"last_block"});
    const auto values = counting(40 * 128);
    for (const Options& options : many_options()) {
        Buffer input = upload<unsigned>("values", values), partials("partials", 40 * 4),
               finished("finished", 4), result("result", 4);
        finished.as<unsigned>()[0] = 0;
        const Arguments arguments(input.data(), partials.data(), finished.data(), result.data());
        for (int launch = 0; launch < 2; ++launch) {
            program.launch("last_block", {.grid_x = 40, .block_x = 128}, arguments, options);
            ASSERT_EQ(result.as<unsigned>()[0], std::accumulate(values.begin(), values.end(), 0u))
                << describe(options);
            ASSERT_EQ(finished.as<unsigned>()[0], 0u) << "atomicInc wraps, ready for the next launch";
        }
    }
}

TEST(SimtCorrect, DecoupledLookBack)
{
    const Program program = compile(kernel_text("look_back.cu"), {"look_back", "look_back_acquire"});
    constexpr unsigned kTiles = 50;
    const auto values = counting(kTiles * 32);
    std::vector<unsigned> expected(values.size());
    std::partial_sum(values.begin(), values.end(), expected.begin());
    for (const std::string kernel : {"look_back", "look_back_acquire"})
        for (const Options& options : many_options()) {
            Buffer input = upload<unsigned>("values", values), prefixes("prefixes", kTiles * 32 * 4),
                   next("next_tile", 4), status("status", kTiles * 4), aggregates("aggregates", kTiles * 4),
                   inclusive("inclusive", kTiles * 4);
            next.as<unsigned>()[0] = 0;
            std::ranges::fill(status.as<unsigned>(), 0u);
            const Arguments arguments(input.data(), prefixes.data(), next.data(), status.data(),
                                      aggregates.data(), inclusive.data());
            program.launch(kernel, {.grid_x = kTiles, .block_x = 32}, arguments, options);
            ASSERT_TRUE(std::ranges::equal(prefixes.as<unsigned>(), expected))
                << kernel << ", " << describe(options);
        }
}

TEST(SimtCorrect, HistogramByAtomics)
{
    const Program program = compile(kernel_text("histogram.cu"), {"histogram"});
    const auto values = counting(5000);
    std::vector<unsigned> expected(16);
    for (const unsigned value : values)
        ++expected[value % 16];
    for (const Options& options : many_options()) {
        Buffer input = upload<unsigned>("values", values), counts("counts", 16 * 4);
        std::ranges::fill(counts.as<unsigned>(), 0u);
        program.launch("histogram", {.grid_x = 9, .block_x = 96},
                       Arguments(input.data(), counts.data(), 5000), options);
        ASSERT_TRUE(std::ranges::equal(counts.as<unsigned>(), expected)) << describe(options);
    }
}

TEST(SimtCorrect, DynamicSharedMemory)
{
    const Program program = compile(kernel_text("reverse.cu"), {"reverse"});
    for (const Options& options : many_options()) {
        Buffer values("values", 7 * 96 * 4), reversed("reversed", 7 * 96 * 4);
        std::iota(values.as<int>().begin(), values.as<int>().end(), 0);
        program.launch("reverse", {.grid_x = 7, .block_x = 96, .dynamic_shared_bytes = 96 * 4},
                       Arguments(values.data(), reversed.data()), options);
        for (int i = 0; i < 7 * 96; ++i)
            ASSERT_EQ(reversed.as<int>()[i], i / 96 * 96 + 95 - i % 96) << describe(options);
    }
}

TEST(SimtCorrect, EqualOptionsOnOneCoreRepeatTheInterleaving)
{
    // Blocks note the order in which they arrive.
    const Program program = compile(
        "extern \"C\" __global__ void arrive(unsigned* next, unsigned* order)\n"
        "{\n"
        "    if (threadIdx.x == 0)\n"
        "        order[atomicAdd(next, 1u)] = blockIdx.x * 64 + threadIdx.x;\n"
        "    for (int i = 0; i < 10; ++i)\n"
        "        __syncthreads();\n"
        "    order[atomicAdd(next, 1u)] = blockIdx.x * 64 + threadIdx.x;\n"
        "}\n",
        {"arrive"});
    const auto arrivals = [&](std::uint64_t seed) {
        Options options;
        options.seed = seed;
        options.os_threads = 1;
        Buffer next("next", 4), order("order", 8 * 65 * 4);
        next.as<unsigned>()[0] = 0;
        program.launch("arrive", {.grid_x = 8, .block_x = 64}, Arguments(next.data(), order.data()), options);
        return std::vector<unsigned>(order.as<unsigned>().begin(), order.as<unsigned>().end());
    };
    EXPECT_EQ(arrivals(5), arrivals(5));
    EXPECT_NE(arrivals(5), arrivals(6));
}

TEST(SimtCorrect, UncheckedProgramsComputeTheSame)
{
    const Program program =
        compile(kernel_text("block_reduce.cu"), {"block_reduce"}, {.shadow_check = false});
    const auto values = counting(6 * 3 * 256);
    Buffer input = upload<unsigned>("values", values), sums("sums", 6 * 4);
    program.launch("block_reduce", {.grid_x = 6, .block_x = 256}, Arguments(input.data(), sums.data(), 3));
    EXPECT_EQ(sums.as<unsigned>()[5], std::accumulate(values.begin() + 5 * 768, values.end(), 0u));
}

}  // namespace
}  // namespace segfold::simt::simt_correct_test
