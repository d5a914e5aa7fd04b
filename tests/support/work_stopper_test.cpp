// Loops that end when nobody waits for them any more, on whatever thread they run.
#include "runtime/support/processes/work_stopper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "dsl/stopped.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/processes/segment_blocks.h"
#include "runtime/support/processes/thread_pool.h"

namespace segfold::work_stopper_test {
namespace {

constexpr std::int64_t kParts = 64;

TEST(WorkStopper, AFlagIsThatOfItsThreadAndGoesWithTheStopper)
{
    EXPECT_NO_THROW(throw_if_stopped());
    const auto outer = std::make_shared<WorkStopper>(), inner = std::make_shared<WorkStopper>();
    outer->stop();
    const WorkStopper::Here here(outer);
    EXPECT_THROW(throw_if_stopped(), Stopped);
    {
        const WorkStopper::Here there(inner);
        EXPECT_NO_THROW(throw_if_stopped());
        inner->stop();
        EXPECT_THROW(throw_if_stopped(), Stopped);
        const WorkStopper::Here nowhere(nullptr);
        EXPECT_NO_THROW(throw_if_stopped());
    }
    EXPECT_THROW(throw_if_stopped(), Stopped);
}

/// Stops the work in the first part that runs: few others begin, on any thread.
void expect_to_end(const std::function<void(const std::function<void()>& work)>& loop)
{
    const auto stopper = std::make_shared<WorkStopper>();
    std::atomic<std::int64_t> began = 0;
    {
        const WorkStopper::Here here(stopper);
        EXPECT_THROW(loop([&] {
                         ++began;
                         stopper->stop();
                     }),
                     Stopped);
    }
    EXPECT_GE(began, 1);
    EXPECT_LT(began, kParts);
    EXPECT_NO_THROW(loop([] {})) << "without a stopper";
    const WorkStopper::Here other(std::make_shared<WorkStopper>());
    EXPECT_NO_THROW(loop([] {})) << "with one that stops nothing";
}

TEST(WorkStopper, BlocksOfSegmentsEnd)
{
    expect_to_end([](const auto& work) {
        for_blocks(kParts, 4, [&](std::int64_t first, std::int64_t last) {
            for (auto i = first; i < last; ++i)
                work();
        });
    });
}

TEST(WorkStopper, PartsOfALoopEnd)
{
    expect_to_end([](const auto& work) {
        parallel_for(kParts, 1, [&](std::int64_t, std::int64_t) {
            work();
            throw_if_stopped();
        });
    });
}

TEST(WorkStopper, LoopsOfThreadsThatStayEnd)
{
    ThreadPool pool(3), alone(1);
    for (auto* one : {&pool, &alone})
        expect_to_end([&](const auto& work) { one->run(kParts, [&](std::int64_t) { work(); }); });
}

}  // namespace
}  // namespace segfold::work_stopper_test
