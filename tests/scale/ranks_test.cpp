// Ranks: several processes that fold a part each give the results of one process, in the order of the
// elements.
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
#include "runtime/scale/ranks/rank_cores.h"
#include "runtime/scale/ranks/thread_ranks.h"
#include "runtime/session/core.h"
#include "tests/common/brief_tests.h"
#include "tests/common/message_of.h"
#include "tests/scale/rank_cases.h"

namespace segfold::test::ranks_test {
namespace {

/// Folds on all ranks; returns the results on rank 0.
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
        // Each case runs with two numbers of ranks; mpi_test tries all numbers.
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

/// A rank joins the partials of all ranks. The test prints the time, because no machine here has so many
/// ranks.
TEST(Ranks, PartialsOfManyRanksAreJoined)
{
    const auto op = standard_operator("trace_u64");
    for (const std::int64_t size : {8, 1024, 100000}) {
        // Each segment spans 5 ranks of 3 elements: cuts lie inside segments and at their ends.
        const auto n = 3 * size;
        const auto workload = slice_workload(op, uniform_segments(n / 15 * 15, 15));
        SessionOptions options;
        options.backend = "reference";
        Session session(options);
        const SliceProblem problem{op, {}};
        SliceFolder folder(problem, slice_device(core(session)));
        const Slicer slicer(workload, workload.segments.num_elements / 3);
        std::vector<std::vector<std::byte>> partials;
        for (std::int64_t rank = 0; rank < slicer.num_slices(); ++rank)
            partials.push_back(folder.fold(slicer.slice(rank)).to_bytes());
        const auto begin = std::chrono::steady_clock::now();
        Partial all(folder.joining());
        for (const auto& partial : partials)
            all += Partial::from_bytes(folder.joining(), partial);
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        std::printf("%zu partials joined in %.0f us\n", partials.size(), took.count());
        all.require_whole();
        const auto joined = all.take_results();
        EXPECT_EQ(joined.num_segments, workload.segments.num_segments);
        const auto right = reduce_sequentially(workload);
        for (std::size_t f = 0; f < right.size(); ++f)
            EXPECT_EQ(
                std::memcmp(joined.results[f].array.data(), right[f].array.data(), right[f].array.bytes()),
                0);
    }
}

}  // namespace
}  // namespace segfold::test::ranks_test
