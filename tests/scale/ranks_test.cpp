// Ranks: several processes that each fold a part give what one gives, in the order of the elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "dsl/error.h"
#include "runtime/scale/border_join.h"
#include "runtime/scale/ranks/rank_cores.h"
#include "runtime/scale/ranks/thread_ranks.h"
#include "tests/common/brief_tests.h"
#include "tests/common/message_of.h"
#include "tests/scale/rank_cases.h"

namespace segfold::test::ranks_test {
namespace {

/// What rank 0 has in the end, where `fold` folds with all of them.
using FoldByRanks = std::function<std::vector<std::vector<std::byte>>(Communicator& ranks, Session& session)>;

std::vector<std::vector<std::byte>> at_first_of(int size, const std::string& backend, const FoldByRanks& fold)
{
    std::vector<std::vector<std::byte>> fields;
    run_thread_ranks(size, [&](Communicator& ranks) {
        SessionOptions session_options;
        session_options.backend = backend;
        Session session(session_options);
        auto folded = fold(ranks, session);
        if (ranks.rank() == 0)
            fields = std::move(folded);
    });
    return fields;
}

std::vector<std::vector<std::byte>> folded_by_ranks(int size, const Workload& workload,
                                                    const StreamOptions& options,
                                                    const Array* lengths = nullptr,
                                                    const std::string& backend = "reference")
{
    return at_first_of(size, backend, [&](Communicator& ranks, Session& session) {
        return folded_by(ranks, session, workload, options, lengths);
    });
}

TEST(Ranks, AnyNumberOfThemGivesWhatOneProcessGives)
{
    std::size_t turn = 0;
    Draw draw;
    for_each_rank_case([&](const RankCase& one) {
        const auto right = wanted(one.workload);
        if (!draw.takes(one.name))
            return;
        // Each case meets two of the numbers; mpi_test tries all of them.
        constexpr std::array<std::pair<int, int>, 5> kPairs = {{{2, 3}, {3, 4}, {1, 7}, {2, 7}, {3, 7}}};
        const auto [some, others] = kPairs[turn++ % kPairs.size()];
        for (const int size : {some, others}) {
            StreamOptions options;
            options.memory_bytes = size == 3 ? 400 : 100000;
            EXPECT_EQ(folded_by_ranks(size, one.workload, options, one.lengths ? &*one.lengths : nullptr),
                      right)
                << one.name << " by " << size;
        }
    });
}

TEST(Ranks, ReproducibleBitsAreTheSameForAnyNumber)
{
    std::map<std::string, std::vector<std::vector<std::byte>>> first;
    for_each_rounding_case([&](const std::string& op, const Workload& workload) {
        for (const int size : {1, 2, 3, 4, 7}) {
            StreamOptions options;
            options.plan.is_reproducible = true;
            const auto results = folded_by_ranks(size, workload, options, nullptr, "simt");
            EXPECT_EQ(results, first.emplace(op, results).first->second) << op << ", " << size << " ranks";
        }
    });
}

TEST(Ranks, CoresAreDealt)
{
    const std::vector<int> cores = {0, 2, 4, 6, 8};
    EXPECT_EQ(share_of_cores(cores, 0, 2), (std::vector{0, 2}));
    EXPECT_EQ(share_of_cores(cores, 1, 2), (std::vector{4, 6, 8}));
    EXPECT_EQ(share_of_cores(cores, 0, 1), cores);
    EXPECT_EQ(share_of_cores({3}, 6, 7), std::vector{3});  // more ranks than cores
    EXPECT_EQ(share_of_cores({3, 5}, 0, 7), std::vector{3});
}

/// What a rank does with the borders of all others; its time is printed, as no machine here has as many.
TEST(Ranks, BordersOfManyRanksAreJoined)
{
    const auto op = standard_operator("trace_u64");
    for (const std::int64_t size : {8, 1024, 100000}) {
        // Segments of 5 ranks each, 3 elements a rank: cuts inside of segments, and where they end.
        const auto n = 3 * size;
        const auto workload = slice_workload(op, uniform_segments(n / 15 * 15, 15));
        SessionOptions options;
        options.backend = "reference";
        Session session(options);
        const SliceProblem problem{op, {}};
        SliceFolder folder(problem, slice_device(session));
        const Slicer slicer(workload, workload.segments.num_elements / 3);
        std::vector<std::vector<std::byte>> borders;
        for (std::int64_t rank = 0; rank < slicer.num_slices(); ++rank)
            borders.push_back(pack(folder.fold(slicer.slice(rank)).border));
        const auto right = reduce_sequentially(workload);
        auto results = allocate_results(workload, SegmentForm::uniform);
        const auto begin = std::chrono::steady_clock::now();
        BorderJoin join(op, JoinOrder::as_cut);
        std::int64_t finished = 0;
        for (const auto& border : borders)
            if (const auto one = join.add(unpack_border(border, op.state.size(), JoinOrder::as_cut))) {
                one->store(results, one->segment);
                ++finished;
            }
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        std::printf("%zu borders joined in %.0f us\n", borders.size(), took.count());
        EXPECT_EQ(finished, workload.segments.num_segments);
        EXPECT_FALSE(join.is_open());
        for (std::size_t f = 0; f < right.size(); ++f)
            EXPECT_EQ(std::memcmp(results[f].array.data(), right[f].array.data(), right[f].array.bytes()), 0);
    }
}

TEST(Ranks, BordersTravelAsBytes)
{
    const auto op = standard_operator("mean_variance_f32");
    const auto workload = slice_workload(op, whole_segments(100));
    SessionOptions options;
    options.backend = "reference";
    Session session(options);
    const SliceProblem problem{op, {}};
    SliceFolder folder(problem, slice_device(session));
    const auto border = folder.fold(Slicer(workload, 3).slice(1)).border;
    const auto packed = pack(border);
    // Five numbers, and one node with four fields.
    EXPECT_EQ(packed.size(), 40U + 16 + 4 * 8);
    const auto again = unpack_border(packed, op.state.size(), JoinOrder::as_cut);
    EXPECT_TRUE(again.has_tail && again.tail_goes_on);
    EXPECT_FALSE(again.has_head || again.has_inner);
    EXPECT_EQ(pack(again), packed);
    EXPECT_THROW((void)unpack_border(std::span(packed).first(39), 3, JoinOrder::as_cut), InternalError);
    EXPECT_THROW((void)unpack_border(std::span(packed).first(50), 3, JoinOrder::as_cut), InternalError);
}

}  // namespace
}  // namespace segfold::test::ranks_test
