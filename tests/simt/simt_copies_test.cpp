// Asynchronous copies on the fiber executor: the copied values are there after a wait and a synchronisation,
// and not before.
#include <algorithm>
#include <numeric>
#include <regex>

#include "tests/simt_kernels/run.h"

namespace segfold::simt::simt_copies_test {
namespace {

constexpr int kTiles = 5;
constexpr std::size_t kBytes = kTiles * 32 * 16;
constexpr int kNonsense = static_cast<int>(2u * 0xadadadadu);  ///< twice the value during a copy

const std::string& text()
{
    static const std::string read = kernel_text("async_copy.cu");
    return read;
}

/// The values of a run, and the launch's message.
struct Outcome {
    std::vector<int> results;
    std::string message;
    Fault fault{};
};

Outcome run(const std::string& source, const Options& options)
{
    Buffer values("values", kBytes), results("results", kBytes);
    std::iota(values.as<int>().begin(), values.as<int>().end(), 1);
    Outcome outcome;
    outcome.message = fault_of(compile(source, {"twice"}), "twice", {.block_x = 32},
                               Arguments(values.data(), results.data(), kTiles), options, &outcome.fault);
    outcome.results.assign(results.as<int>().begin(), results.as<int>().end());
    return outcome;
}

std::vector<int> doubled()
{
    std::vector<int> expected(kBytes / sizeof(int));
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = 2 * (static_cast<int>(i) + 1);
    return expected;
}

TEST(SimtCopies, ArriveWhenTheyAreWaitedFor)
{
    for (const Options& options : many_options()) {
        const auto outcome = run(text(), options);
        EXPECT_EQ(outcome.message, "no fault");
        EXPECT_EQ(outcome.results, doubled());
    }
}

/// The message depends on which thread comes first: the reader finds unwritten memory, or one access finds
/// the other.
TEST(SimtCopies, MissingSynchronisationAfterTheWaitIsReported)
{
    const auto source = planted(text(), "__syncwarp();  // the tile is there", "");
    for (const Options& options : many_options()) {
        const auto outcome = run(source, options);
        EXPECT_TRUE(outcome.fault == Fault::race || outcome.fault == Fault::uninitialised) << outcome.message;
        EXPECT_TRUE(std::regex_match(
            outcome.message,
            std::regex(
                "kernel twice, block 0, thread \\d+, line \\d+: (reads|writes) element \\d+ of shared 'tiles "
                "of twice', which (no thread of the block has written|thread \\d+ (wrote|read) in line "
                "\\d+ with nothing to order the two: .*)")))
            << outcome.message;
    }
}

/// The synchronisation orders the start of a copy, so there is no race, but the copy has not ended.
TEST(SimtCopies, MissingWaitGivesNonsense)
{
    const auto source =
        planted(text(), "wait_for_all_copies_but_the_latest();\n        __syncwarp", "__syncwarp");
    for (const Options& options : many_options()) {
        const auto outcome = run(source, options);
        EXPECT_EQ(outcome.message, "no fault");
        EXPECT_EQ(std::ranges::count(outcome.results, kNonsense), kBytes / sizeof(int));
    }
}

/// A lane that reads what it copied itself races with no other lane, and reads nonsense before the wait.
TEST(SimtCopies, BringNothingBeforeTheWait)
{
    auto source = planted(text(), "(lane + 1) % 32", "lane");
    EXPECT_EQ(run(source, {}).results, doubled());
    source = planted(source, "wait_for_all_copies_but_the_latest();\n        __syncwarp", "__syncwarp");
    const auto outcome = run(source, {});
    EXPECT_EQ(outcome.message, "no fault");
    for (const int result : outcome.results)
        EXPECT_EQ(result, kNonsense);
}

/// The latest group is still under way, so reading it gives nonsense.
TEST(SimtCopies, WaitGroupLeavesTheLatestPending)
{
    auto source = planted(text(), "(lane + 1) % 32", "lane");
    source = planted(source, "tiles[tile % 3][other]", "tiles[(tile + 1) % 3][other]");
    const auto outcome = run(planted(source, "< num_tiles; ++tile", "< num_tiles - 1; ++tile"), {});
    EXPECT_EQ(outcome.message, "no fault");
    for (std::size_t i = 0; i < outcome.results.size() - 32 * 4; ++i)
        EXPECT_EQ(outcome.results[i], kNonsense) << i;
    const auto waited = run(planted(planted(source, "wait_group 1", "wait_group 0"), "< num_tiles; ++tile",
                                    "< num_tiles - 1; ++tile"),
                            {});
    for (std::size_t i = 0; i < waited.results.size() - 32 * 4; ++i)
        EXPECT_EQ(waited.results[i], 2 * (static_cast<int>(i) + 128 + 1)) << i;
}

TEST(SimtCopies, AddressesMustBeThoseOfVectors)
{
    const Options ascending = {.schedule = Schedule::ascending, .os_threads = 1};
    auto outcome = run(planted(text(), "values + lane)", "(const int*)(values + lane) + 1)"), ascending);
    EXPECT_EQ(outcome.fault, Fault::misaligned);
    EXPECT_EQ(outcome.message,
              "kernel twice, block 0, thread 0, line 6: copies 16 bytes asynchronously from or to byte 4 of "
              "'values', whose address must be a multiple of 16");
    outcome = run(planted(text(), "&tiles[0][lane],", "(int*)&tiles[0][lane] + 2,"), ascending);
    EXPECT_EQ(outcome.fault, Fault::misaligned);
    EXPECT_EQ(outcome.message,
              "kernel twice, block 0, thread 0, line 6: copies 16 bytes asynchronously from or to byte 8 of "
              "shared 'tiles of twice', whose address must be a multiple of 16");
}

TEST(SimtCopies, MayNotReadPastTheEnd)
{
    const auto outcome = run(planted(text(), "tile + 1 < num_tiles", "true"), {});
    EXPECT_EQ(outcome.fault, Fault::out_of_bounds);
    EXPECT_TRUE(std::regex_match(
        outcome.message,
        std::regex(
            "kernel twice, block 0, thread \\d+, line 6: reads 16 bytes at (\\d+ bytes past )?the end of "
            "'values' \\(2560 bytes\\)")))
        << outcome.message;
}

TEST(SimtCopies, OtherPtxIsRefused)
{
    EXPECT_THROW(compile(planted(text(), "wait_group 1", "wait_group 2"), {"twice"}), DeviceError);
}

}  // namespace
}  // namespace segfold::simt::simt_copies_test
