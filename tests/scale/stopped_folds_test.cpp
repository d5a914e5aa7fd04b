// Slices, streams and ranks whose caller was stopped: the work ends on every thread.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "dsl/stopped.h"
#include "runtime/scale/ranks/agreed_ranks.h"
#include "runtime/scale/ranks/thread_ranks.h"
#include "runtime/scale/slices/sliced.h"
#include "runtime/scale/stream.h"
#include "runtime/session/core.h"
#include "runtime/support/processes/work_stopper.h"
#include "tests/common/front_door.h"
#include "tests/scale/late_engine.h"
#include "tests/scale/slice_cases.h"

namespace segfold::test::stopped_folds_test {
namespace {

constexpr std::int64_t kMost = 256;  // number of slices if nothing stops the fold

/// Checks the thread's stop flag until another thread sets it, for a limited time.
void work_until_stopped()
{
    for (std::int64_t look = 0; look < std::int64_t{1} << 30; ++look)
        throw_if_stopped();
}

Workload sum_in_one_segment(std::int64_t num_elements)
{
    return slice_workload(standard_operator("sum_i32"), whole_segments(num_elements));
}

SliceProblem problem_of(Session& session, const Workload& workload)
{
    return slice_problem(core(session), workload.op, session.laws(workload.op), {}, false);
}

TEST(StoppedFolds, NoOtherSliceBegins)
{
    auto session = session_on("reference");
    const auto workload = sum_in_one_segment(kMost);
    const auto stopper = std::make_shared<WorkStopper>();
    const WorkStopper::Here here(stopper);
    std::int64_t began = 0;
    const SliceDevice device{[&](const Workload& part, const Emitted* text, RunTimes& times) {
                                 ++began;
                                 stopper->stop();
                                 const WorkStopper::Here alone(nullptr);
                                 return core(session).run(part, text, &times);
                             },
                             false};
    EXPECT_THROW((void)fold_sliced({&device, 1}, problem_of(session, workload), workload, kMost), Stopped);
    EXPECT_EQ(began, 1);
}

TEST(StoppedFolds, EveryDeviceEnds)
{
    auto session = session_on("reference");
    const auto workload = sum_in_one_segment(kMost);
    const auto stopper = std::make_shared<WorkStopper>();
    const WorkStopper::Here here(stopper);
    std::atomic<int> working = 0, ended = 0;
    const SliceDevice device{[&](const Workload&, const Emitted*, RunTimes&) -> Results {
                                 if (++working == 3)
                                     stopper->stop();
                                 try {
                                     work_until_stopped();
                                 } catch (const Stopped&) {
                                     ++ended;
                                     throw;
                                 }
                                 return {};
                             },
                             false};
    const std::vector<SliceDevice> devices(3, device);
    EXPECT_THROW((void)fold_sliced(devices, problem_of(session, workload), workload, kMost), Stopped);
    EXPECT_EQ(ended, 3);
}

/// Folds a stream of kMost slices. The source calls `making` for each read; `taking` is called for each
/// slice.
void fold_streamed(const std::function<void()>& making, const std::function<void()>& taking)
{
    auto session = session_on("reference");
    std::int64_t left = kMost * 100;
    const auto make = [&](std::span<std::int32_t> into) {
        making();
        const auto count = std::min(left, std::ssize(into));
        std::fill_n(into.begin(), count, 1);
        left -= count;
        return count;
    };
    FoldStreamOptions options;
    options.memory_bytes = 1200;
    (void)fold_stream(session, standard_operator("sum_i32"), {StreamArray::made<std::int32_t>(make, left)},
                      uniform(10), options, [&](const Folded&, std::int64_t) { taking(); });
}

TEST(StoppedFolds, AStreamEndsWhereItReads)
{
    const auto stopper = std::make_shared<WorkStopper>();
    int made = 0;
    {
        const WorkStopper::Here here(stopper);
        EXPECT_THROW(fold_streamed(
                         [&] {
                             if (++made == 3)
                                 stopper->stop();
                             if (made >= 3)
                                 work_until_stopped();
                         },
                         [] {}),
                     Stopped);
    }
    EXPECT_EQ(made, 3);
}

TEST(StoppedFolds, AStreamEndsWhereItTakes)
{
    const auto stopper = std::make_shared<WorkStopper>();
    int made = 0, taken = 0;
    {
        const WorkStopper::Here here(stopper);
        EXPECT_THROW(fold_streamed([&] { ++made; },
                                   [&] {
                                       ++taken;
                                       stopper->stop();
                                   }),
                     Stopped);
    }
    EXPECT_EQ(taken, 1);
    EXPECT_LT(made, 8) << "of more than " << kMost;
    taken = 0;
    EXPECT_NO_THROW(fold_streamed([] {}, [&] { ++taken; }));
    EXPECT_GT(taken, kMost / 2) << "without a stopper";
}

/// A source of ones that several threads may read. Calls `reading` before each part.
class SharedOnes : public ArraySource {
public:
    SharedOnes(std::int64_t length, std::function<void()> reading)
        : length_(length), reading_(std::move(reading))
    {}
    [[nodiscard]] Type type() const override { return Type::i32; }
    [[nodiscard]] std::optional<std::int64_t> length() const override { return length_; }
    [[nodiscard]] bool reads_in_parallel() const override { return true; }
    std::int64_t read(std::int64_t, Array& into) override
    {
        reading_();
        std::ranges::fill(into.as<std::int32_t>(), 1);
        return static_cast<std::int64_t>(into.length());
    }
    [[nodiscard]] std::string where() const override { return "ones"; }
    [[nodiscard]] std::string fingerprint() const override { return where(); }

private:
    std::int64_t length_;
    std::function<void()> reading_;
};

/// Sums 2^20 ones on a device. Threads read pieces of 4 KiB.
std::int64_t sum_through_a_device(
    const std::function<void()>& reading, const std::function<void()>& taking = [] {})
{
    auto planner = session_on("simt"), worker = session_on("reference");
    StreamInput input;
    input.parameters.push_back(std::make_unique<SharedOnes>(std::int64_t{1} << 20, reading));
    StreamOptions options;
    options.memory_bytes = 1 << 17;
    Stream stream(planner, standard_operator("sum_i32"), std::move(input), options,
                  std::make_unique<LateEngine>(worker));
    std::int64_t sum = 0;
    stream.run([&](StreamResults&& results, const StreamState&) {
        taking();
        for (const auto& field : results.results)
            for (const auto value : field.array.as<std::int32_t>())
                sum += value;
    });
    return sum;
}

TEST(StoppedFolds, ThreadsThatReadForADeviceBeginNothingElse)
{
    std::atomic<std::int64_t> all = 0;
    EXPECT_EQ(sum_through_a_device([&] { ++all; }), std::int64_t{1} << 20);
    const auto stopper = std::make_shared<WorkStopper>();
    const WorkStopper::Here here(stopper);
    std::atomic<std::int64_t> begun = 0;
    EXPECT_THROW((void)sum_through_a_device([&] {
                     if (++begun == 3)
                         stopper->stop();
                 }),
                 Stopped);
    // Each of the other threads may have checked the flag just before it was set.
    const auto threads = std::clamp<std::int64_t>(std::thread::hardware_concurrency() * 3 / 4, 1, 12);
    EXPECT_LE(begun, 3 + threads - 1) << "of " << all;
    EXPECT_GT(all, 100);
}

/// The stream waits for slices that the device is working on, and drops their results.
TEST(StoppedFolds, AStreamThroughADeviceEndsWhereItTakes)
{
    const auto stopper = std::make_shared<WorkStopper>();
    const WorkStopper::Here here(stopper);
    int taken = 0;
    EXPECT_THROW((void)sum_through_a_device([] {},
                                            [&] {
                                                ++taken;
                                                stopper->stop();
                                            }),
                 Stopped);
    EXPECT_EQ(taken, 1);
}

TEST(StoppedFolds, WhatIsReadForADeviceEndsInTheMidst)
{
    const auto stopper = std::make_shared<WorkStopper>();
    const WorkStopper::Here here(stopper);
    std::atomic<int> begun = 0, ended = 0;
    EXPECT_THROW((void)sum_through_a_device([&] {
                     ++begun;
                     stopper->stop();
                     try {
                         work_until_stopped();
                     } catch (const Stopped&) {
                         ++ended;
                         throw;
                     }
                 }),
                 Stopped);
    EXPECT_GE(ended, 1);
    EXPECT_EQ(ended, begun);
}

TEST(StoppedFolds, RanksEndTogetherAndSayWhy)
{
    const auto stopper = std::make_shared<WorkStopper>();
    const WorkStopper::Here here(stopper);
    std::atomic<int> working = 0, stopped = 0;
    EXPECT_THROW(run_thread_ranks(4,
                                  [&](Communicator& threads) {
                                      AgreedRanks ranks(threads);
                                      try {
                                          ranks.together([&] {
                                              // This rank waits for the other ranks in the meantime.
                                              if (ranks.rank() == 3)
                                                  return;
                                              if (++working == 3)
                                                  stopper->stop();
                                              work_until_stopped();
                                          });
                                      } catch (const Stopped&) {
                                          ++stopped;
                                          throw;
                                      }
                                  }),
                 Stopped);
    EXPECT_EQ(stopped, 4);
}

}  // namespace
}  // namespace segfold::test::stopped_folds_test
