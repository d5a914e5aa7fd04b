// Kernels with planted faults are reported under every schedule, in words that help to find the fault.
#include <algorithm>
#include <numeric>

#include "tests/simt_kernels/run.h"

namespace segfold::simt::simt_faults_test {
namespace {

constexpr const char* kBlockCure =
    ": threads of a block are ordered by __syncthreads(), lanes of a warp by __syncwarp()";
constexpr const char* kGridCure =
    ": blocks are ordered by __threadfence() on both sides of an atomic or volatile flag";

Options ascending()
{
    Options options;
    options.schedule = Schedule::ascending;
    options.os_threads = 1;
    return options;
}

/// The kernels of faults.cu, and two buffers for them.
class SimtFaults : public testing::Test {
protected:
    SimtFaults() : values("values", 64 * 4), results("results", 64 * 4)
    {
        std::iota(values.as<int>().begin(), values.as<int>().end(), 0);
        std::ranges::fill(results.as<int>(), 0);
    }

    static const Program& program()
    {
        static const Program compiled = compile(kernel_text("faults.cu"), {"read_past_end",
                                                                           "write_before_start",
                                                                           "vector_load",
                                                                           "divergent_barrier",
                                                                           "exited_lane",
                                                                           "absent_lane",
                                                                           "foreign_mask",
                                                                           "source_outside_mask",
                                                                           "mixed_kinds",
                                                                           "wait_for_block",
                                                                           "uninitialised",
                                                                           "neighbour_block",
                                                                           "same_word",
                                                                           "lock_in_vain",
                                                                           "trap_in_one",
                                                                           "past_shared",
                                                                           "bytes_apart",
                                                                           "count_in_vain",
                                                                           "barrier_of_some",
                                                                           "barrier_in_two_branches",
                                                                           "votes_in_two_branches",
                                                                           "barrier_of_a_function"});
        return compiled;
    }

    /// The message under the ascending schedule. All other schedules must find a fault of the same kind.
    template <class... T>
    std::string message(Fault expected, const std::string& kernel, const Dimensions& dimensions,
                        T... arguments)
    {
        for (const Options& options : many_options()) {
            Fault found{};
            const std::string text =
                fault_of(program(), kernel, dimensions, Arguments(arguments...), options, &found);
            EXPECT_EQ(found, expected) << text << " with seed " << options.seed;
        }
        return fault_of(program(), kernel, dimensions, Arguments(arguments...), ascending());
    }

    Buffer values;
    Buffer results;
};

TEST_F(SimtFaults, ReadPastTheEnd)
{
    EXPECT_EQ(
        message(Fault::out_of_bounds, "read_past_end", {.block_x = 32}, values.data(), results.data(), 65),
        "kernel read_past_end, block 0, thread 0, line 4: reads 4 bytes at 4 bytes past the end of 'values' "
        "(256 bytes)");
    EXPECT_EQ(
        message(Fault::out_of_bounds, "read_past_end", {.block_x = 32}, values.data(), results.data(), 64),
        "kernel read_past_end, block 0, thread 0, line 4: reads 4 bytes at the end of 'values' (256 bytes)");
}

TEST_F(SimtFaults, ReadThroughNull)
{
    EXPECT_EQ(message(Fault::out_of_bounds, "read_past_end", {}, static_cast<std::byte*>(nullptr),
                      results.data(), 4),
              "kernel read_past_end, block 0, thread 0, line 4: reads 4 bytes at address 0x10, which is in "
              "no buffer");
}

TEST_F(SimtFaults, WriteBeforeTheStart)
{
    EXPECT_EQ(
        message(Fault::out_of_bounds, "write_before_start", {.grid_x = 1, .block_x = 32}, results.data()),
        "kernel write_before_start, block 0, thread 0, line 9: writes 4 bytes at 4 bytes before the start of "
        "'results' (256 bytes)");
}

TEST_F(SimtFaults, IndexOutsideOfASharedArray)
{
    EXPECT_EQ(
        message(Fault::out_of_bounds, "past_shared", {.block_x = 32}, values.data()),
        "kernel past_shared, block 0, thread 31, line 104: index 31 is outside of an array of type int [31]");
}

TEST_F(SimtFaults, MisalignedVectorLoad)
{
    EXPECT_EQ(message(Fault::misaligned, "vector_load", {}, values.data(), results.data()),
              "kernel vector_load, block 0, thread 0, line 14: uses byte 4 of 'values' as a float4, whose "
              "address must "
              "be a multiple of 16");
}

TEST_F(SimtFaults, BarrierThatNotAllThreadsReach)
{
    EXPECT_EQ(message(Fault::barrier_divergence, "divergent_barrier", {.block_x = 64}, results.data()),
              "kernel divergent_barrier, block 0: no thread can go on: threads 40-63 wait at __shfl_sync() "
              "with mask "
              "0xffffffff in line 22; threads 0-39 wait at __syncthreads() in line 21; 0 have returned");
}

TEST_F(SimtFaults, BarriersThatAreNotOneStatement)
{
    const auto expect = [&](const std::string& kernel, const std::string& found) {
        EXPECT_EQ(message(Fault::barrier_divergence, kernel, {.block_x = 64}, results.data()),
                  "kernel " + kernel + ", block 0, " + found +
                      "; a barrier is one statement that all of them reach");
    };
    expect("barrier_of_some",
           "thread 40, line 123: calls __syncthreads() while other threads of the block wait at another "
           "__syncthreads() in line 121");
    expect("barrier_in_two_branches",
           "thread 1, line 128: calls __syncthreads() while other threads of the block wait at another "
           "__syncthreads() in line 128");
    expect("votes_in_two_branches",
           "thread 32, line 137: calls __syncthreads_and() while other threads of the block wait at "
           "__syncthreads_or() in line 135");
}

TEST_F(SimtFaults, BarrierThatAFunctionHasIsOneStatement)
{
    for (const Options& options : many_options())
        EXPECT_EQ(fault_of(program(), "barrier_of_a_function", {.grid_x = 2, .block_x = 96},
                           Arguments(results.data()), options),
                  "no fault");
}

TEST_F(SimtFaults, MaskThatNamesALaneThatReturns)
{
    EXPECT_EQ(message(Fault::warp_mask, "exited_lane", {.block_x = 32}, results.data()),
              "kernel exited_lane, block 0, thread 5: returns although a mask names it: threads 0-4 wait at "
              "__shfl_down_sync() with mask 0xffffffff in line 29");
}

TEST_F(SimtFaults, MaskThatNamesALaneThatHasReturned)
{
    EXPECT_EQ(message(Fault::warp_mask, "absent_lane", {.block_x = 32}, results.data()),
              "kernel absent_lane, block 0, thread 16, line 37: __shfl_sync() with mask 0xffff0001 names "
              "lane 0, which "
              "has returned; the live lanes are 0xffff0000");
}

TEST_F(SimtFaults, MaskBeyondTheLastThread)
{
    EXPECT_EQ(message(Fault::warp_mask, "mixed_kinds", {.block_x = 8}, results.data()),
              "kernel mixed_kinds, block 0, thread 0, line 54: __any_sync() with mask 0xffffffff names lanes "
              "8-31, beyond "
              "the block's last thread; the live lanes are 0x000000ff");
}

TEST_F(SimtFaults, MaskWithoutTheCaller)
{
    EXPECT_EQ(message(Fault::warp_mask, "foreign_mask", {.block_x = 32}, values.data()),
              "kernel foreign_mask, block 0, thread 16, line 42: __any_sync() with mask 0x0000ffff leaves "
              "out the calling "
              "lane 16");
}

TEST_F(SimtFaults, ShuffleFromALaneOutsideTheMask)
{
    EXPECT_EQ(message(Fault::warp_mask, "source_outside_mask", {.block_x = 32}, results.data()),
              "kernel source_outside_mask, block 0, thread 15, line 48: __shfl_down_sync() with mask "
              "0x0000ffff takes the "
              "value of lane 16, which the mask leaves out; the live lanes are 0xffffffff");
    Options lenient = ascending();
    lenient.shuffles_read_mask_only = false;
    std::ranges::fill(results.as<int>(), 0);
    EXPECT_EQ(fault_of(program(), "source_outside_mask", {.block_x = 32}, Arguments(results.data()), lenient),
              "no fault");
    EXPECT_EQ(results.as<int>()[14], 0);
    EXPECT_EQ(results.as<unsigned>()[15], 0x7ffadbadu) << "poison";
}

TEST_F(SimtFaults, DifferentFunctionsMeet)
{
    EXPECT_EQ(message(Fault::warp_mask, "mixed_kinds", {.block_x = 32}, results.data()),
              "kernel mixed_kinds, block 0, thread 16, line 56: calls __all_sync() with mask 0xffffffff "
              "where lanes 0-15 of "
              "its warp called __any_sync() with mask 0xffffffff");
}

TEST_F(SimtFaults, BlockWaitsForOneThatCannotStart)
{
    EXPECT_EQ(fault_of(program(), "wait_for_block", {.grid_x = 8}, Arguments(results.data()), ascending()),
              "kernel wait_for_block, block 0: no thread makes progress: thread 0 spins on element 1 of "
              "'results' in line "
              "62; 4 of 8 blocks have not started, as only 4 can be resident");
    Options descending = ascending();
    descending.block_order = BlockOrder::descending;
    EXPECT_EQ(fault_of(program(), "wait_for_block", {.grid_x = 8}, Arguments(results.data()), descending),
              "no fault");
    std::ranges::fill(results.as<int>(), 0);
    Options all_resident = ascending();
    all_resident.resident_blocks = 8;
    EXPECT_EQ(fault_of(program(), "wait_for_block", {.grid_x = 8}, Arguments(results.data()), all_resident),
              "no fault");
    std::ranges::fill(results.as<int>(), 0);
    Options several_cores = ascending();
    several_cores.os_threads = 4;
    Fault found{};
    fault_of(program(), "wait_for_block", {.grid_x = 8}, Arguments(results.data()), several_cores, &found);
    EXPECT_EQ(found, Fault::no_progress);
}

TEST_F(SimtFaults, LockThatIsNeverFreed)
{
    EXPECT_EQ(fault_of(program(), "lock_in_vain", {.block_x = 64}, Arguments(results.data(), values.data()),
                       ascending()),
              "kernel lock_in_vain, block 0: no thread makes progress: threads 1-63 spin on element 0 of "
              "'results' in line "
              "90");
    EXPECT_EQ(message(Fault::no_progress, "lock_in_vain", {.block_x = 64}, results.data(), values.data())
                  .substr(0, 52),
              "kernel lock_in_vain, block 0: no thread makes progre");
}

/// A wait that counts its turns in memory makes no progress, on any number of cores.
TEST_F(SimtFaults, CountedWaitsForAFlagThatNobodySets)
{
    for (const unsigned cores : {1u, 2u, 4u}) {
        std::ranges::fill(results.as<int>(), 0);
        Options options = ascending();
        options.os_threads = cores;
        Fault found{};
        fault_of(program(), "count_in_vain", {.grid_x = 4, .block_x = 8},
                 Arguments(results.data(), values.data()), options, &found);
        EXPECT_EQ(found, Fault::no_progress) << cores;
    }
}

TEST_F(SimtFaults, SharedMemoryThatNobodyWrote)
{
    EXPECT_EQ(message(Fault::uninitialised, "uninitialised", {.block_x = 64}, results.data()),
              "kernel uninitialised, block 0, thread 3, line 73: reads element 3 of shared 'memory of "
              "uninitialised', which "
              "no thread of the block has written");
}

TEST_F(SimtFaults, RaceBetweenBlocks)
{
    EXPECT_EQ(message(Fault::race, "neighbour_block", {.grid_x = 8}, results.data()),
              std::string("kernel neighbour_block, block 1, thread 0, line 79: reads element 0 of 'results', "
                          "which thread 0 "
                          "of block 0 wrote in line 78 with nothing to order the two") +
                  kGridCure);
}

TEST_F(SimtFaults, EqualValuesWrittenToOneWord)
{
    EXPECT_EQ(message(Fault::race, "same_word", {.block_x = 64}, results.data()),
              std::string("kernel same_word, block 0, thread 1, line 85: writes element 0 of 'results', "
                          "which thread 0 wrote "
                          "in line 85 with nothing to order the two") +
                  kBlockCure);
}

TEST_F(SimtFaults, Trap)
{
    EXPECT_EQ(message(Fault::trap, "trap_in_one", {.block_x = 64}, values.data()),
              "kernel trap_in_one, block 0, thread 3, line 98: calls __trap()");
}

TEST_F(SimtFaults, NeighbouringBytesDoNotRace)
{
    for (const Options& options : many_options())
        EXPECT_EQ(fault_of(program(), "bytes_apart", {.block_x = 64}, Arguments(results.data()), options),
                  "no fault");
}

TEST_F(SimtFaults, TheMessageSaysHowToReplay)
{
    Options options = options_from_seed(5);
    options.os_threads = 1;
    try {
        program().launch("trap_in_one", {.block_x = 64}, Arguments(values.data()), options);
        FAIL() << "no fault";
    } catch (const SimtError& error) {
        EXPECT_STREQ(
            error.what(),
            "kernel trap_in_one, block 0, thread 3, line 98: calls __trap() [schedule sticky_warp, blocks "
            "descending, seed 5, resident_blocks 4, os_threads 1]");
    }
}

TEST_F(SimtFaults, AProcessGoesOnAfterFaults)
{
    for (int i = 0; i < 20; ++i) {
        EXPECT_NE(
            fault_of(program(), "divergent_barrier", {.grid_x = 5, .block_x = 64}, Arguments(results.data())),
            "no fault");
        EXPECT_EQ(
            fault_of(program(), "read_past_end", {.block_x = 1}, Arguments(values.data(), results.data(), 7)),
            "no fault");
        EXPECT_EQ(results.as<int>()[0], 7);
    }
}

TEST_F(SimtFaults, GridsAndBlocksOfSeveralDimensionsAreNamedByCoordinates)
{
    Options options;
    options.schedule = Schedule::descending;
    options.block_order = BlockOrder::descending;
    options.os_threads = 1;
    EXPECT_EQ(fault_of(program(), "read_past_end",
                       {.grid_x = 3, .grid_y = 2, .block_x = 2, .block_y = 4, .block_z = 2},
                       Arguments(values.data(), results.data(), 64), options),
              "kernel read_past_end, block (2, 1, 0), thread (1, 3, 1), line 4: reads 4 bytes at the end of "
              "'values' (256 "
              "bytes)");
}

}  // namespace
}  // namespace segfold::simt::simt_faults_test
