// Loops over the host's threads.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>

#include "dsl/stopped.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/processes/segment_blocks.h"
#include "runtime/support/processes/thread_pool.h"

namespace segfold::test::parallel_test {
namespace {

/// Into how many parts a loop is split, a thread each.
int num_parts(std::int64_t count, std::int64_t smallest = 1)
{
    std::atomic<int> parts = 0;
    std::atomic<std::int64_t> done = 0;
    parallel_for(count, smallest, [&](std::int64_t begin, std::int64_t end) {
        ++parts;
        done += end - begin;
    });
    EXPECT_EQ(done, count);
    return parts;
}

TEST(Parallel, ShortLoopsStayOnTheThread)
{
    EXPECT_EQ(num_parts(0), 0);
    EXPECT_EQ(num_parts(7, 8), 1);
    EXPECT_EQ(num_parts(15, 8), 1);
    EXPECT_THROW(parallel_for(1, 1, [](std::int64_t, std::int64_t) { throw Stopped(); }), Stopped);
}

TEST(Parallel, NoMoreThreadsThanCoresThatMayBeUsed)
{
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(num_parts(1024), num_usable_cores());
    EXPECT_EQ(thread_count(0), num_usable_cores());
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
        if (CPU_ISSET(core, &all))
            CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(num_parts(1024), 1);
    EXPECT_EQ(thread_count(0), 1);
    EXPECT_EQ(thread_count(3), 3);
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace
}  // namespace segfold::test::parallel_test
