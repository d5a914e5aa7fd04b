// Deterministic schedules: these kernels record the threads that continue, which are known in advance.
#include <algorithm>

#include "codegen/catalogue.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/simt_backend.h"
#include "tests/common/small_workloads.h"
#include "tests/common/stage_cases.h"
#include "tests/simt_kernels/run.h"

namespace segfold::simt_schedules_test {
namespace {

using simt::Arguments;
using simt::Options;
using simt::Program;
using simt::Schedule;
using Turns = std::vector<unsigned>;

Options options_of(Schedule schedule, int resident_blocks = 4)
{
    Options options;
    options.schedule = schedule;
    options.os_threads = 1;
    options.resident_blocks = resident_blocks;
    return options;
}

class SimtSchedules : public testing::Test {
protected:
    /// The threads or blocks that took the tickets, in order.
    [[nodiscard]] Turns turns(const std::string& kernel, unsigned blocks, unsigned threads,
                              std::size_t tickets, const Options& options) const
    {
        auto next = simt::upload<unsigned>("next", Turns{0});
        simt::Buffer order("order", tickets * sizeof(unsigned));
        program_.launch(kernel, {.grid_x = blocks, .block_x = threads}, Arguments(next.data(), order.data()),
                        options);
        const auto taken = order.as<unsigned>();
        return {taken.begin(), taken.end()};
    }

    [[nodiscard]] unsigned crowd(unsigned blocks, const Options& options) const
    {
        auto inside = simt::upload<unsigned>("inside", Turns{0});
        auto most = simt::upload<unsigned>("most", Turns{0});
        program_.launch("crowd", {.grid_x = blocks}, Arguments(inside.data(), most.data()), options);
        return most.as<unsigned>()[0];
    }

    Program program_ = simt::compile(simt::kernel_text("turns.cu"), {"tickets", "threads_tickets", "crowd"});
};

TEST_F(SimtSchedules, OvertakingBlocksBeginInOrderAndGoOnFromTheHighest)
{
    EXPECT_EQ(turns("tickets", 4, 1, 8, options_of(Schedule::overtaking)), Turns({0, 1, 2, 3, 3, 2, 1, 0}));
    EXPECT_EQ(turns("tickets", 4, 1, 8, options_of(Schedule::ascending)), Turns({0, 0, 1, 1, 2, 2, 3, 3}));
    EXPECT_EQ(turns("tickets", 4, 1, 8, options_of(Schedule::descending)), Turns({3, 3, 2, 2, 1, 1, 0, 0}));
}

TEST_F(SimtSchedules, OvertakingWaitsForNoBlockThatIsNotResident)
{
    EXPECT_EQ(turns("tickets", 4, 1, 8, options_of(Schedule::overtaking, 2)),
              Turns({0, 1, 1, 0, 2, 3, 3, 2}));
    EXPECT_EQ(turns("tickets", 3, 1, 6, options_of(Schedule::overtaking, 1)), Turns({0, 0, 1, 1, 2, 2}));
}

TEST_F(SimtSchedules, OvertakingCrowdsAllResidentBlocksBetweenTwoChanges)
{
    for (const int resident : {1, 2, 4, 8})
        EXPECT_EQ(crowd(8, options_of(Schedule::overtaking, resident)), static_cast<unsigned>(resident));
    EXPECT_EQ(crowd(8, options_of(Schedule::ascending)), 1U);
}

TEST_F(SimtSchedules, ThreadsOfABlockGoFromTheEndThatTheScheduleNames)
{
    const auto ascending = turns("threads_tickets", 1, 64, 64, options_of(Schedule::ascending));
    EXPECT_TRUE(std::ranges::is_sorted(ascending));
    for (const auto schedule : {Schedule::descending, Schedule::overtaking}) {
        const auto taken = turns("threads_tickets", 1, 64, 64, options_of(schedule));
        EXPECT_TRUE(std::ranges::is_sorted(taken, std::ranges::greater())) << simt::name(schedule);
    }
}

/// Sums by thread_per_segment. Its launches share nothing but the arrays.
class SimtEarlier : public testing::Test {
protected:
    static Segments segments(std::initializer_list<std::int32_t> offsets)
    {
        return segments_from_offsets(array_of(Type::i32, offsets), 8);
    }

    /// Sums over `workload_` after `num_launches` launches. The first launches have the segments `earlier`.
    std::vector<std::int32_t> sums(const Segments* earlier, int num_launches)
    {
        return values_of<std::int32_t>(simt::run(workload_, emitted_, options_of(Schedule::ascending), {}, 1,
                                                 num_launches, 0, {}, nullptr, earlier));
    }

    Workload workload_ = workload_of(standard_operator("sum_i32"), segments({0, 3, 8}),
                                     array_of<std::int32_t>(Type::i32, {1, 2, 4, 8, 16, 32, 64, 128}));
    Emitted emitted_ = [&] {
        const Problem problem(workload_.op, SegmentForm::offsets);
        const auto& stage = Catalogue::standard().stage("thread_per_segment");
        return emit(problem, stage, default_configuration(stage, plan_facts(problem)));
    }();
};

TEST_F(SimtEarlier, AllLaunchesButTheLastHaveTheEarlierSegments)
{
    const std::vector<std::int32_t> right = {7, 248};
    const auto earlier = segments({0, 5, 8});
    EXPECT_EQ(sums(nullptr, 1), right);
    EXPECT_EQ(sums(&earlier, 1), right);
    EXPECT_EQ(sums(&earlier, 2), right);
    // A launch with these segments reads outside of the column. Only an earlier launch has them.
    auto outside = segments({0, 3, 8});
    outside.offsets.as<std::int32_t>()[2] = 9;
    EXPECT_EQ(sums(&outside, 1), right);
    EXPECT_THROW((void)sums(&outside, 2), simt::SimtError);
}

TEST_F(SimtEarlier, ArraysOfAnotherLengthAreRefused)
{
    const auto earlier = segments({0, 3, 5, 8});
    try {
        (void)sums(&earlier, 2);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "simt: offsets of the earlier launches has 16 bytes; the last one's has 12");
    }
}

}  // namespace
}  // namespace segfold::simt_schedules_test
