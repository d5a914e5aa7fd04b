#include "runtime/backends/simt/knowledge.h"

#include <algorithm>
#include <array>
#include <utility>

namespace segfold::simt {
namespace {

constexpr unsigned kBits = 4;
constexpr unsigned kFanOut = 1u << kBits;
constexpr unsigned kLevels = 32 / kBits;

}  // namespace

/// A node of a radix tree over block numbers, most significant digit first; a path skips no level.
class KnowledgeNode {
public:
    std::array<Knowledge, kFanOut> children;  ///< of an inner node
    Cover cover;                              ///< of a leaf
};

namespace {

unsigned digit(std::uint32_t block, unsigned level)
{
    return block >> (32 - kBits * (level + 1)) & (kFanOut - 1);
}

Cover join_covers(const Cover& a, const Cover& b)
{
    // Lanes' entries older than a later barrier say nothing beyond it.
    if (a.barrier_time != b.barrier_time)
        return a.barrier_time > b.barrier_time ? a : b;
    Cover result{a.barrier_time, {}};
    auto left = a.lanes.begin();
    auto right = b.lanes.begin();
    while (left != a.lanes.end() || right != b.lanes.end()) {
        if (right == b.lanes.end() || (left != a.lanes.end() && left->thread < right->thread)) {
            result.lanes.push_back(*left++);
        } else if (left == a.lanes.end() || right->thread < left->thread) {
            result.lanes.push_back(*right++);
        } else {
            result.lanes.push_back({left->thread, std::max(left->time, right->time)});
            ++left;
            ++right;
        }
    }
    return result;
}

Knowledge join_at(const Knowledge& a, const Knowledge& b, unsigned level)
{
    if (a == b || b == nullptr)
        return a;
    if (a == nullptr)
        return b;
    auto node = std::make_shared<KnowledgeNode>();
    if (level == kLevels) {
        node->cover = join_covers(a->cover, b->cover);
        return node;
    }
    bool same_as_a = true;
    bool same_as_b = true;
    for (unsigned i = 0; i < kFanOut; ++i) {
        node->children[i] = join_at(a->children[i], b->children[i], level + 1);
        same_as_a = same_as_a && node->children[i] == a->children[i];
        same_as_b = same_as_b && node->children[i] == b->children[i];
    }
    if (same_as_a)
        return a;
    return same_as_b ? b : node;
}

Knowledge extend_at(const Knowledge& knowledge, std::uint32_t block, Cover cover, unsigned level)
{
    auto node = knowledge ? std::make_shared<KnowledgeNode>(*knowledge) : std::make_shared<KnowledgeNode>();
    if (level == kLevels) {
        node->cover = knowledge ? join_covers(knowledge->cover, cover) : std::move(cover);
        return node;
    }
    Knowledge& child = node->children[digit(block, level)];
    child = extend_at(child, block, std::move(cover), level + 1);
    return node;
}

}  // namespace

bool Cover::holds(unsigned thread, std::uint32_t time) const
{
    if (time < barrier_time)
        return true;
    const auto place =
        std::lower_bound(lanes.begin(), lanes.end(), thread,
                         [](const Lane& lane, unsigned wanted) { return lane.thread < wanted; });
    return place != lanes.end() && place->thread == thread && time < place->time;
}

Knowledge join(const Knowledge& a, const Knowledge& b) { return join_at(a, b, 0); }

Knowledge extend(const Knowledge& knowledge, std::uint32_t block, Cover cover)
{
    return extend_at(knowledge, block, std::move(cover), 0);
}

const Cover* find(const Knowledge& knowledge, std::uint32_t block)
{
    const KnowledgeNode* node = knowledge.get();
    for (unsigned level = 0; node != nullptr && level < kLevels; ++level)
        node = node->children[digit(block, level)].get();
    return node == nullptr ? nullptr : &node->cover;
}

}  // namespace segfold::simt
