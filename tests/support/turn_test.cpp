// Turns that threads and processes take at one thing.
#include "runtime/support/processes/turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "dsl/stopped.h"
#include "runtime/support/processes/work_stopper.h"
#include "tests/common/files.h"

namespace segfold::turn_test {
namespace {

using namespace std::chrono_literals;

TEST(Turn, IsHadByOneAtATime)
{
    const TemporaryFolder folder;
    const auto file = folder.file("turns/a");
    auto first = std::make_unique<Turn>(file);
    std::atomic<bool> has_second = false;
    std::thread other([&] {
        const Turn second(file);
        has_second = true;
    });
    const Turn of_another_thing(folder.file("turns/b"));
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(has_second);
    first.reset();
    other.join();
    EXPECT_TRUE(has_second);
}

TEST(Turn, EndsItsWaitWhenTheThreadIsStopped)
{
    const TemporaryFolder folder;
    const auto file = folder.file("turns/a");
    const Turn first(file);
    const auto stopper = std::make_shared<WorkStopper>();
    std::thread other([&] {
        const WorkStopper::Here here(stopper);
        EXPECT_THROW(Turn second(file), Stopped);
    });
    std::this_thread::sleep_for(20ms);
    stopper->stop();
    other.join();
}

TEST(Turn, IsHadByAllWhereNoFileCanBe)
{
    const Turn first{std::filesystem::path()}, second{std::filesystem::path()};
    const Turn third("/proc/turns/a"), fourth("/proc/turns/a");
}

}  // namespace
}  // namespace segfold::turn_test
