// Clusters of blocks on the fiber executor: the blocks are resident together, wait for each other, and read
// each other's shared memory, which is checked like a block's own.
#include "dsl/error.h"
#include "tests/common/message_of.h"
#include "tests/simt_kernels/run.h"

namespace segfold::simt::simt_cluster_test {
namespace {

constexpr int kBlocks = 12;  ///< three clusters of four
constexpr int kThreads = 64;
constexpr int kRounds = 3;

const std::string& text()
{
    static const std::string read = kernel_text("cluster.cu");
    return read;
}

struct Outcome {
    std::vector<int> results;
    std::string message;
    Fault fault{};
};

Outcome run(const std::string& source, const Options& options, unsigned blocks = kBlocks)
{
    Buffer values("values", blocks * kThreads * sizeof(int)), results("results", values.bytes());
    for (std::size_t i = 0; i < values.as<int>().size(); ++i)
        values.as<int>()[i] = static_cast<int>(i * i % 101);
    Outcome outcome;
    outcome.message = fault_of(compile(source, {"ring"}), "ring", {.grid_x = blocks, .block_x = kThreads},
                               Arguments(values.data(), results.data(), kRounds), options, &outcome.fault);
    outcome.results.assign(results.as<int>().begin(), results.as<int>().end());
    return outcome;
}

/// Three times, each block adds the next block's values: weights 1 3 3 1.
std::vector<int> expected()
{
    std::vector<int> values(kBlocks * kThreads), sums(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<int>(i * i % 101);
    constexpr int kWeights[] = {1, 3, 3, 1};
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t cluster = i / (4 * kThreads) * 4, rank = i / kThreads % 4;
        for (std::size_t k = 0; k < 4; ++k)
            sums[i] += kWeights[k] * values[(cluster + (rank + k) % 4) * kThreads + i % kThreads];
    }
    return sums;
}

TEST(SimtClusters, ReadEachOthersMemoryUnderEverySchedule)
{
    for (const Options& options : many_options()) {
        const auto outcome = run(text(), options);
        EXPECT_EQ(outcome.message, "no fault");
        EXPECT_EQ(outcome.results, expected());
    }
}

TEST(SimtClusters, AreResidentTogetherHoweverFewBlocksAreAskedFor)
{
    Options options;
    for (options.resident_blocks = 1; options.resident_blocks <= 9; ++options.resident_blocks)
        EXPECT_EQ(run(text(), options).results, expected()) << options.resident_blocks;
}

TEST(SimtClusters, BlocksThatWaitOnlyForThemselvesAreReported)
{
    const auto source = planted(text(), "wait_for_cluster();  // all have shown theirs", "__syncthreads();");
    for (const Options& options : many_options()) {
        const auto outcome = run(source, options);
        EXPECT_TRUE(outcome.fault == Fault::uninitialised || outcome.fault == Fault::race) << outcome.message;
        EXPECT_NE(outcome.message.find("shared 'shown of ring'"), std::string::npos) << outcome.message;
    }
}

TEST(SimtClusters, BlocksThatOverwriteWhatIsReadOrLeaveAreReported)
{
    const auto source = planted(text(), "wait_for_cluster();  // all have read", "__syncthreads();");
    for (const Options& options : many_options()) {
        const auto outcome = run(source, options);
        EXPECT_TRUE(outcome.fault == Fault::race || outcome.fault == Fault::out_of_bounds) << outcome.message;
    }
}

TEST(SimtClusters, MemoryOfABlockThatHasReturnedIsReported)
{
    auto source = planted(text(), "wait_for_cluster();  // all have read", "");
    source = planted(source, "for (int round = 0; round < rounds; ++round) {",
                     "for (int round = 0; round < 1; ++round) {");
    std::string found;
    for (const Options& options : many_options()) {
        const auto outcome = run(source, options);
        if (outcome.message != "no fault")
            found = outcome.message;
    }
    EXPECT_NE(found.find("of shared 'shown of ring' of block"), std::string::npos) << found;
    EXPECT_NE(found.find("whose threads have returned"), std::string::npos) << found;
}

TEST(SimtClusters, BlocksThatHaveReturnedAreNotWaitedFor)
{
    auto source = planted(text(), "(blockIdx.x + 1) % kBlocks;", "blockIdx.x % kBlocks ^ 1;");
    source = planted(source, "int mine = values[place];",
                     "int mine = values[place]; if (blockIdx.x % kBlocks > 1) rounds = 0;");
    for (const Options& options : many_options())
        EXPECT_EQ(run(source, options).message, "no fault");
}

TEST(SimtClusters, RanksBeyondTheClusterAndOtherMemoryAreReported)
{
    auto outcome = run(planted(text(), ", next);", ", 4);"), {});
    EXPECT_EQ(outcome.fault, Fault::out_of_bounds);
    EXPECT_NE(outcome.message.find("maps shared memory of block 4 of a cluster of 4"), std::string::npos)
        << outcome.message;
    outcome = run(planted(text(), "in_block(&shown[threadIdx.x], next)", "in_block(values, next)"), {});
    EXPECT_EQ(outcome.fault, Fault::out_of_bounds);
    EXPECT_NE(outcome.message.find("maps byte 0 of 'values', which is no shared memory"), std::string::npos)
        << outcome.message;
}

TEST(SimtClusters, GridsOfPartsOfAClusterAreRefused)
{
    const auto refusal = [](const std::string& source, unsigned blocks) {
        return test::message_of<InputError>([&] { (void)run(source, {}, blocks); });
    };
    EXPECT_EQ(
        refusal(text(), 6),
        "simt: kernel ring: a grid of 6 blocks along x in clusters of 4; clusters of 1 to 8 blocks along x "
        "are possible, and grids of whole ones");
    EXPECT_EQ(
        refusal(planted(text(), "__cluster_dims__(kBlocks, 1, 1)", "__cluster_dims__(2, 2, 1)"), 8),
        "simt: kernel ring: a grid of 8 blocks along x in clusters of more than one dimension; clusters of 1 "
        "to 8 blocks along x are possible, and grids of whole ones");
}

}  // namespace
}  // namespace segfold::simt::simt_cluster_test
