// If one line is removed from a correct kernel, every schedule reports a fault, in whatever order the threads
// run.
#include <algorithm>
#include <functional>
#include <regex>

#include "tests/simt_kernels/run.h"

namespace segfold::simt::simt_planted_test {
namespace {

/// Expects a race under all schedules. `pattern` matches the message after the kernel's name.
void expect_race(const std::string& pattern, const std::function<std::string(const Options&, Fault*)>& run)
{
    for (const Options& options : many_options()) {
        Fault fault{};
        const std::string message = run(options, &fault);
        EXPECT_TRUE(fault == Fault::race) << message;
        EXPECT_TRUE(
            std::regex_match(message, std::regex("kernel \\w+, block \\d+, thread \\d+, line " + pattern)))
            << message << "\n  is not like\n"
            << pattern;
    }
}

void expect_block_reduce_race(const std::string& text, const std::string& pattern)
{
    const Program program = compile(text, {"block_reduce"});
    expect_race(pattern, [&](const Options& options, Fault* fault) {
        Buffer values("values", 6 * 3 * 256 * 4), sums("sums", 6 * 4);
        return fault_of(program, "block_reduce", {.grid_x = 6, .block_x = 256},
                        Arguments(values.data(), sums.data(), 3), options, fault);
    });
}

TEST(SimtPlanted, MissingTrailingBarrier)
{
    expect_block_reduce_race(
        planted(kernel_text("block_reduce.cu"), "__syncthreads();  // everybody has the sum", ""),
        "(7|14): (writes|reads) element 0 of shared 'tree of block_reduce', which (thread|warp) \\d+ "
        "(read|wrote) in line "
        "(14|7) with nothing to order the two: threads of a block are ordered by __syncthreads\\(\\), lanes "
        "of a warp by __syncwarp\\(\\)");
}

TEST(SimtPlanted, MissingMiddleBarrier)
{
    expect_block_reduce_race(
        planted(kernel_text("block_reduce.cu"), "__syncthreads();  // this level is done", ""),
        "(11|14): (reads|writes) element \\d+ of shared 'tree of block_reduce', which (thread|warp) \\d+ "
        "(read|wrote) in "
        "line (11|14) with nothing .*");
}

TEST(SimtPlanted, BarrierOfSomeThreads)
{
    const Program program =
        compile(planted(kernel_text("block_reduce.cu"), "            __syncthreads();  // this level is done",
                        "            if (threadIdx.x < half) __syncthreads();"),
                {"block_reduce"});
    for (const Options& options : many_options()) {
        Buffer values("values", 3 * 256 * 4), sums("sums", 4);
        Fault fault{};
        const std::string message = fault_of(program, "block_reduce", {.block_x = 256},
                                             Arguments(values.data(), sums.data(), 3), options, &fault);
        EXPECT_TRUE(fault == Fault::barrier_divergence || fault == Fault::race) << message;
    }
}

TEST(SimtPlanted, MissingFirstBarrier)
{
    // The message depends on which thread comes first: the reader finds an unwritten word, or the writer
    // finds that it was read.
    const Program program =
        compile(planted(kernel_text("block_reduce.cu"), "__syncthreads();  // the tile is there", ""),
                {"block_reduce"});
    for (const Options& options : many_options()) {
        Buffer values("values", 3 * 256 * 4), sums("sums", 4);
        Fault fault{};
        const std::string message = fault_of(program, "block_reduce", {.block_x = 256},
                                             Arguments(values.data(), sums.data(), 3), options, &fault);
        EXPECT_TRUE(fault == Fault::race || fault == Fault::uninitialised) << message;
        EXPECT_TRUE(std::regex_match(
            message,
            std::regex(
                "kernel block_reduce, block 0, thread \\d+, line (7|11): (reads|writes) element \\d+ of "
                "shared 'tree of block_reduce', which (no thread of the block has written|thread \\d+ "
                "(wrote|read) in line (7|11) with nothing .*)")))
            << message;
    }
}

void expect_warp_tree_race(const std::string& missing, const std::string& pattern)
{
    const Program program = compile(planted(kernel_text("warp_tree.cu"), missing, ""), {"warp_tree"});
    expect_race(pattern, [&](const Options& options, Fault* fault) {
        Buffer values("values", 5 * 64 * 4), sums("sums", 10 * 4);
        return fault_of(program, "warp_tree", {.grid_x = 5, .block_x = 64},
                        Arguments(values.data(), sums.data()), options, fault);
    });
}

TEST(SimtPlanted, MissingSyncwarp)
{
    expect_warp_tree_race(
        "__syncwarp();  // this level is done",
        "(11|15): (reads|writes) element \\d+ of shared 'tree of warp_tree', which thread \\d+ "
        "(read|wrote) in line (11|15) with nothing to order the two.*");
}

TEST(SimtPlanted, ShuffleInPlaceOfSyncwarp)
{
    const std::string text = planted(kernel_text("warp_tree.cu"), "__syncwarp();  // this level is done",
                                     "__shfl_sync(0xffffffffu, half, 0);");
    const Program program = compile(text, {"warp_tree"});
    Buffer values("values", 64 * 4), sums("sums", 2 * 4);
    Options options;
    Fault fault{};
    const std::string message = fault_of(program, "warp_tree", {.block_x = 64},
                                         Arguments(values.data(), sums.data()), options, &fault);
    EXPECT_EQ(fault, Fault::race) << message;
    options.shuffles_order_memory = true;
    EXPECT_EQ(fault_of(program, "warp_tree", {.block_x = 64}, Arguments(values.data(), sums.data()), options),
              "no fault");
}

void expect_last_block_race(const std::string& missing, const std::string& pattern)
{
    const Program program = compile(planted(kernel_text("last_block.cu"), missing, ""), {"last_block"});
    expect_race(pattern, [&](const Options& options, Fault* fault) {
        Buffer values("values", 20 * 128 * 4), partials("partials", 20 * 4), finished("finished", 4),
            result("result", 4);
        finished.as<unsigned>()[0] = 0;
        return fault_of(program, "last_block", {.grid_x = 20, .block_x = 128},
                        Arguments(values.data(), partials.data(), finished.data(), result.data()), options,
                        fault);
    });
}

TEST(SimtPlanted, MissingThreadfenceBeforeTheCount)
{
    expect_last_block_race(
        "__threadfence();  // the partial is seen before the count",
        "21: reads element \\d+ of 'partials', which thread 0 of block \\d+ wrote in line 12 with nothing to "
        "order the two: "
        "blocks are ordered by __threadfence\\(\\) on both sides of an atomic or volatile flag");
}

std::string run_look_back(const Program& program, const std::string& kernel, const Options& options,
                          Fault* fault)
{
    Buffer values("values", 50 * 32 * 4), prefixes("prefixes", 50 * 32 * 4), next("next_tile", 4),
        status("status", 50 * 4), aggregates("aggregates", 50 * 4), inclusive("inclusive", 50 * 4);
    next.as<unsigned>()[0] = 0;
    std::ranges::fill(status.as<unsigned>(), 0u);
    return fault_of(program, kernel, {.grid_x = 50, .block_x = 32},
                    Arguments(values.data(), prefixes.data(), next.data(), status.data(), aggregates.data(),
                              inclusive.data()),
                    options, fault);
}

TEST(SimtPlanted, LookBackWithoutTheFenceBeforeThePrefix)
{
    const Program program = compile(
        planted(kernel_text("look_back.cu"), "__threadfence();  // the prefix is seen before its status", ""),
        {"look_back"});
    expect_race(
        "34: reads element \\d+ of 'inclusive', which thread 0 of block \\d+ wrote in line 39 with nothing "
        ".*",
        [&](const Options& options, Fault* fault) {
            return run_look_back(program, "look_back", options, fault);
        });
}

TEST(SimtPlanted, LookBackWithoutTheFenceAfterTheStatus)
{
    const Program program =
        compile(planted(kernel_text("look_back.cu"),
                        "__threadfence();  // what the status promises is read after it", ""),
                {"look_back"});
    expect_race(
        "(34|37): reads element \\d+ of '(inclusive|aggregates)', which thread 0 of block \\d+ wrote in line "
        ".*",
        [&](const Options& options, Fault* fault) {
            return run_look_back(program, "look_back", options, fault);
        });
}

TEST(SimtPlanted, LookBackWithAPlainStatus)
{
    const Program program =
        compile(planted(kernel_text("look_back.cu"), "__segfold_store_release(&status[tile], kPrefix)",
                        "status[tile] = kPrefix"),
                {"look_back_acquire"});
    expect_race(
        "\\d+: (updates|reads|writes) element \\d+ of 'status', which thread 0 of block \\d+ (read|wrote) in "
        "line .*",
        [&](const Options& options, Fault* fault) {
            return run_look_back(program, "look_back_acquire", options, fault);
        });
}

TEST(SimtPlanted, HistogramWithPlainAdditions)
{
    const Program program = compile(planted(kernel_text("histogram.cu"),
                                            "atomicAdd(&bins[values[i] % 16], 1u)", "++bins[values[i] % 16]"),
                                    {"histogram"});
    expect_race(
        "9: (reads|writes) element \\d+ of shared 'bins of histogram', which (thread|warp) \\d+ (read|wrote) "
        "in line 9 "
        "with nothing .*",
        [&](const Options& options, Fault* fault) {
            Buffer values("values", 5000 * 4), counts("counts", 16 * 4);
            std::ranges::fill(values.as<unsigned>(), 3u);
            std::ranges::fill(counts.as<unsigned>(), 0u);
            return fault_of(program, "histogram", {.grid_x = 9, .block_x = 96},
                            Arguments(values.data(), counts.data(), 5000), options, fault);
        });
}

}  // namespace
}  // namespace segfold::simt::simt_planted_test
