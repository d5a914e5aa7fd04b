// Compares the knowledge of threads about other blocks with a map that stores every cover separately.
#include "runtime/simt/execution/knowledge.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace segfold::simt::knowledge_test {
namespace {

/// The content of a `Knowledge` for one block in plain form: a barrier's time, and the times of single
/// threads.
struct Plain {
    std::uint32_t barrier_time = 0;
    std::map<unsigned, std::uint32_t> threads;
};
using PlainKnowledge = std::map<std::uint32_t, Plain>;

void add(PlainKnowledge& to, std::uint32_t block, const Plain& more)
{
    const auto [place, is_new] = to.try_emplace(block, more);
    Plain& known = place->second;
    if (is_new || known.barrier_time > more.barrier_time)
        return;
    if (known.barrier_time < more.barrier_time)
        known = more;
    for (const auto& [thread, time] : more.threads)
        known.threads[thread] = std::max(known.threads[thread], time);
}

Cover cover_of(const Plain& plain)
{
    Cover cover{plain.barrier_time, {}};
    for (const auto& [thread, time] : plain.threads)
        cover.lanes.push_back({static_cast<std::uint16_t>(thread), time});
    return cover;
}

/// Numbers of blocks of one launch and of later launches.
const std::vector<std::uint32_t> kBlocks = {
    0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 70, 255, 1023, 65536, 65537, 987654321, 987654322, 0xffffffffu};

struct Both {
    Knowledge knowledge;
    PlainKnowledge plain;
};

void expect_same(const Both& both, std::mt19937& random)
{
    for (const auto block : kBlocks) {
        const Cover* cover = find(both.knowledge, block);
        const auto plain = both.plain.find(block);
        ASSERT_EQ(cover != nullptr, plain != both.plain.end()) << "block " << block;
        if (cover == nullptr)
            continue;
        ASSERT_EQ(cover->barrier_time, plain->second.barrier_time) << "block " << block;
        const unsigned thread = random() % 6;
        const auto known = plain->second.threads.find(thread);
        const std::uint32_t time = random() % 12;
        const bool is_held = time < plain->second.barrier_time ||
                             (known != plain->second.threads.end() && time < known->second);
        EXPECT_EQ(cover->holds(thread, time), is_held) << "block " << block << ", thread " << thread;
    }
    EXPECT_EQ(find(both.knowledge, 77), nullptr);
}

TEST(Knowledge, IsWhatWasJoinedAndExtended)
{
    std::mt19937 random(20261127);
    std::vector<Both> all(12);
    for (int step = 0; step < 6000; ++step) {
        Both& one = all[random() % all.size()];
        const Both& other = all[random() % all.size()];
        switch (random() % 4) {
            case 0: {
                Plain plain{static_cast<std::uint32_t>(random() % 4), {}};
                for (unsigned left = random() % 4; left > 0; --left)
                    plain.threads[random() % 6] =
                        plain.barrier_time + 1 + static_cast<std::uint32_t>(random() % 8);
                const auto block = kBlocks[random() % kBlocks.size()];
                one.knowledge = extend(one.knowledge, block, cover_of(plain));
                add(one.plain, block, plain);
                break;
            }
            case 1: {
                Both joined{join(one.knowledge, other.knowledge), one.plain};
                for (const auto& [block, plain] : other.plain)
                    add(joined.plain, block, plain);
                one = joined;
                break;
            }
            case 2: {
                const auto more = other;  // may be `one` itself
                learn(one.knowledge, more.knowledge);
                for (const auto& [block, plain] : more.plain)
                    add(one.plain, block, plain);
                break;
            }
            default:
                if (random() % 8 == 0)
                    one = {};
        }
        expect_same(one, random);
    }
}

/// Chains of thousands of blocks stay cheap, because known covers are not built anew.
TEST(Knowledge, StaysTheSameWhereNothingIsNew)
{
    Knowledge all;
    for (std::uint32_t block = 0; block < 1000; ++block)
        all = extend(all, block, {3, {{2, 7}}});
    const auto some = extend(extend(nullptr, 5, {3, {{2, 6}}}), 900, {2, {}});
    EXPECT_EQ(join(all, some), all);
    EXPECT_EQ(join(some, all), all);
    EXPECT_EQ(join(all, nullptr), all);
    EXPECT_EQ(join(nullptr, all), all);
    auto learned = all;
    learn(learned, some);
    EXPECT_EQ(learned, all);
    learned = some;
    learn(learned, all);
    EXPECT_EQ(learned, all);
    EXPECT_NE(join(all, extend(nullptr, 5, {3, {{2, 8}}})), all);
    EXPECT_NE(join(all, extend(nullptr, 5, {3, {{1, 4}}})), all);
    EXPECT_NE(join(all, extend(nullptr, 1000, {1, {}})), all);
}

}  // namespace
}  // namespace segfold::simt::knowledge_test
