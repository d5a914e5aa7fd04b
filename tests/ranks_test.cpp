// Ranks: several processes that each fold a part give what one gives, in the order of the elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "dsl/error.h"
#include "runtime/judge/reference.h"
#include "runtime/session/scale/border_join.h"
#include "runtime/session/scale/ranks.h"
#include "tests/stream_cases.h"

namespace segfold::test {
namespace {

/// What threads that stand for ranks share.
struct Meeting {
    explicit Meeting(int size)
        : barrier(size), given(static_cast<std::size_t>(size)), sent(static_cast<std::size_t>(size))
    {}

    std::barrier<> barrier;
    std::vector<std::vector<std::byte>> given;
    std::mutex mutex;
    std::condition_variable arrival;
    std::vector<std::deque<std::byte>> sent;  ///< to rank 0
};

/// Ranks as threads.
class ThreadRank : public Communicator {
public:
    ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(meeting_.given.size()); }
    [[nodiscard]] int local_rank() const override { return rank_; }
    [[nodiscard]] std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override
    {
        meeting_.given[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
        meeting_.barrier.arrive_and_wait();
        auto all = meeting_.given;
        meeting_.barrier.arrive_and_wait();
        return all;
    }
    void send(int, std::span<const std::byte> bytes) override
    {
        const std::lock_guard lock(meeting_.mutex);
        auto& queue = meeting_.sent[static_cast<std::size_t>(rank_)];
        queue.insert(queue.end(), bytes.begin(), bytes.end());
        meeting_.arrival.notify_all();
    }
    void receive(int from, std::span<std::byte> bytes) override
    {
        std::unique_lock lock(meeting_.mutex);
        auto& queue = meeting_.sent[static_cast<std::size_t>(from)];
        meeting_.arrival.wait(lock, [&] { return queue.size() >= bytes.size(); });
        const auto end = queue.begin() + std::ssize(bytes);
        std::copy(queue.begin(), end, bytes.begin());
        queue.erase(queue.begin(), end);
    }
    [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

private:
    Meeting& meeting_;
    int rank_;
};

/// The results of all ranks, gathered, as bytes of each field; then those of the keys.
std::vector<std::vector<std::byte>> folded_by_ranks(int size, const Workload& workload,
                                                    const StreamOptions& options,
                                                    const Array* lengths = nullptr,
                                                    const std::string& backend = "reference")
{
    Meeting meeting(size);
    std::vector<RankResults> results;
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
            ThreadRank ranks(meeting, rank);
            SessionOptions session_options;
            session_options.backend = backend;
            Session session(session_options);
            Stream stream(session, workload.op, input_of(workload, lengths), options);
            gather_at_first(ranks, workload.op, fold_share(ranks, stream, {1 << 20, 1 << 20}),
                            [&](RankResults&& one) { results.push_back(std::move(one)); });
        });
    threads.clear();
    std::vector<std::vector<std::byte>> fields;
    std::vector<std::int64_t> all_lengths;
    for (auto& one : results) {
        EXPECT_EQ(one.num_segments, one.num_kept);
        EXPECT_EQ(one.num_segments, std::ssize(one.lengths));
        all_lengths.insert(all_lengths.end(), one.lengths.begin(), one.lengths.end());
        if (one.results.keys)
            one.results.push_back({"keys", std::move(*one.results.keys)});
        fields.resize(std::max(fields.size(), one.results.size()));
        for (std::size_t f = 0; f < one.results.size(); ++f) {
            const auto& array = one.results[f].array;
            fields[f].insert(fields[f].end(), array.data(), array.data() + array.bytes());
        }
    }
    const auto& segments = workload.segments;
    EXPECT_EQ(std::ssize(all_lengths), segments.num_segments);
    for (std::int64_t s = 0; s < std::min(std::ssize(all_lengths), segments.num_segments); ++s)
        EXPECT_EQ(all_lengths[static_cast<std::size_t>(s)], segments.length(s)) << s;
    if (segments.num_segments == 0)
        fields.clear();
    return fields;
}

TEST(Ranks, AnyNumberOfThemGivesWhatOneProcessGives)
{
    for (const auto& op : slice_operators())
        for (const auto& [name, lengths] : border_cases())
            for (auto& [layout, segments] : slice_segments(name, lengths)) {
                if (segments.form == SegmentForm::ranges ||
                    (!op.allows_empty() && segments.num_segments > 0 && length_range(segments).shortest == 0))
                    continue;
                const auto workload = slice_workload(op, std::move(segments));
                const auto right = wanted(workload);
                for (const int size : {1, 2, 3, 4, 7}) {
                    StreamOptions options;
                    options.memory_bytes = size == 3 ? 400 : 100000;
                    ASSERT_EQ(folded_by_ranks(size, workload, options), right)
                        << op.name << " over " << layout << " by " << size;
                }
            }
}

TEST(Ranks, LengthsAreAdded)
{
    const auto op = slice_operators()[2];  // all places
    const std::vector<std::int64_t> lengths = {0, 5, 0, 30, 1, 1, 0};
    const auto workload = slice_workload(op, segments_from_offsets(index_array(offsets_of(lengths)), 37));
    const auto array = index_array(lengths);
    for (const int size : {2, 5})
        EXPECT_EQ(folded_by_ranks(size, workload, {}, &array), wanted(workload)) << size;
}

TEST(Ranks, ReproducibleBitsAreTheSameForAnyNumber)
{
    const std::vector<std::int64_t> lengths = {5, 4096, 4097, 300, 40000, 1, 8192, 31, 2, 20000};
    const auto offsets = segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
    for (const auto* name : {"sum_f32", "mean_variance_f32", "log_sum_exp_f32"}) {
        const auto op = standard_operator(name);
        std::vector<std::vector<std::byte>> once;
        for (const auto form : {SegmentForm::offsets, SegmentForm::flags}) {
            const auto workload =
                slice_workload(op, form == SegmentForm::offsets ? offsets.copy() : given_as(form, offsets),
                               ValueRange::uniform);
            for (const int size : {1, 2, 3, 4, 7}) {
                StreamOptions options;
                options.plan.is_reproducible = true;
                const auto results = folded_by_ranks(size, workload, options, nullptr, "simt");
                if (once.empty())
                    once = results;
                EXPECT_EQ(results, once) << name << ", " << size << " ranks";
            }
        }
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
    // Five numbers, and one node with three fields.
    EXPECT_EQ(packed.size(), 40U + 16 + 3 * 8);
    const auto again = unpack_border(packed, op.state.size(), JoinOrder::as_cut);
    EXPECT_TRUE(again.has_tail && again.tail_goes_on);
    EXPECT_FALSE(again.has_head || again.has_inner);
    EXPECT_EQ(pack(again), packed);
    EXPECT_THROW((void)unpack_border(std::span(packed).first(39), 3, JoinOrder::as_cut), InternalError);
    EXPECT_THROW((void)unpack_border(std::span(packed).first(50), 3, JoinOrder::as_cut), InternalError);
}

}  // namespace
}  // namespace segfold::test
