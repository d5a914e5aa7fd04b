#include "runtime/simt/execution/knowledge.h"

#include <algorithm>
#include <array>
#include <utility>

namespace segfold::simt {
namespace {

constexpr unsigned kBits = 2;
constexpr unsigned kFanOut = 1u << kBits;
constinit const Knowledge kNothing;

}  // namespace

/// A node of a radix tree over block numbers; the most significant digit comes first.
///
/// A node of height h holds blocks whose numbers have up to h digits; a leaf has height 0. No node is higher
/// than its greatest block number needs. So a child may be more than one level lower than its parent; the
/// digits in between are then 0.
class KnowledgeNode {
public:
    explicit KnowledgeNode(unsigned node_height) : height(node_height) {}

    const unsigned height;
};

namespace {

class Leaf : public KnowledgeNode {
public:
    explicit Leaf(Cover known) : KnowledgeNode(0), cover(std::move(known)) {}

    const Cover cover;
};

class Inner : public KnowledgeNode {
public:
    explicit Inner(unsigned node_height) : KnowledgeNode(node_height) {}

    std::array<Knowledge, kFanOut> children;
};

const Cover& cover_of(const KnowledgeNode& node) { return static_cast<const Leaf&>(node).cover; }

/// Returns child `i` of `knowledge`, which is treated as a node of height `height` even if it is lower.
const Knowledge& child_of(const Knowledge& knowledge, unsigned height, unsigned i)
{
    if (knowledge == nullptr)
        return kNothing;
    if (knowledge->height < height)
        return i == 0 ? knowledge : kNothing;
    return static_cast<const Inner&>(*knowledge).children[i];
}

/// Returns the digit of `block` that selects the child in a node of `height`.
unsigned digit(std::uint32_t block, unsigned height) { return block >> kBits * (height - 1) & (kFanOut - 1); }

/// True if a node of `height` has a place for `block`.
bool has_place(unsigned height, std::uint32_t block) { return std::uint64_t{block} >> kBits * height == 0; }

/// True if `a` contains every access that `b` contains.
bool holds_cover(const Cover& a, const Cover& b)
{
    if (a.barrier_time != b.barrier_time)
        return a.barrier_time > b.barrier_time;
    auto left = a.lanes.begin();
    for (const auto& lane : b.lanes) {
        while (left != a.lanes.end() && left->thread < lane.thread)
            ++left;
        if (left == a.lanes.end() || left->thread != lane.thread || left->time < lane.time)
            return false;
    }
    return true;
}

Cover join_covers(const Cover& a, const Cover& b)
{
    // The cover with the later barrier contains the other cover.
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

/// Returns the union of `a` and `b`. If one argument contains the other, returns that argument; else stores
/// the union in `made` and returns `made`. Joins are frequent and mostly of equal sets, so this function
/// avoids reference counts and allocations.
const Knowledge& join_into(Knowledge& made, const Knowledge& a, const Knowledge& b)
{
    if (a == b || b == nullptr)
        return a;
    if (a == nullptr)
        return b;
    const unsigned height = std::max(a->height, b->height);
    if (height == 0) {
        if (holds_cover(cover_of(*a), cover_of(*b)))
            return a;
        if (holds_cover(cover_of(*b), cover_of(*a)))
            return b;
        return made = std::make_shared<Leaf>(join_covers(cover_of(*a), cover_of(*b)));
    }
    std::array<Knowledge, kFanOut> made_children;
    std::array<const Knowledge*, kFanOut> joined{};
    bool same_as_a = true;
    bool same_as_b = true;
    for (unsigned i = 0; i < kFanOut; ++i) {
        const auto& of_a = child_of(a, height, i);
        const auto& of_b = child_of(b, height, i);
        joined[i] = &join_into(made_children[i], of_a, of_b);
        same_as_a = same_as_a && *joined[i] == of_a;
        same_as_b = same_as_b && *joined[i] == of_b;
    }
    if (same_as_a)
        return a;
    if (same_as_b)
        return b;
    auto node = std::make_shared<Inner>(height);
    for (unsigned i = 0; i < kFanOut; ++i)
        node->children[i] = *joined[i];
    return made = std::move(node);
}

Knowledge extend_at(const Knowledge& knowledge, std::uint32_t block, Cover&& cover, unsigned height)
{
    if (height == 0)
        return std::make_shared<Leaf>(knowledge ? join_covers(cover_of(*knowledge), cover)
                                                : std::move(cover));
    auto node = std::make_shared<Inner>(height);
    const unsigned own = digit(block, height);
    for (unsigned i = 0; i < kFanOut; ++i)
        if (i != own)
            node->children[i] = child_of(knowledge, height, i);
    node->children[own] = extend_at(child_of(knowledge, height, own), block, std::move(cover), height - 1);
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

Knowledge join(const Knowledge& a, const Knowledge& b)
{
    Knowledge made;
    return join_into(made, a, b);
}

void learn(Knowledge& knowledge, const Knowledge& more)
{
    if (more == nullptr || more == knowledge)
        return;
    Knowledge made;
    const Knowledge& all = join_into(made, knowledge, more);
    if (&all != &knowledge)
        knowledge = all;
}

Knowledge extend(const Knowledge& knowledge, std::uint32_t block, Cover cover)
{
    unsigned height = knowledge == nullptr ? 0 : knowledge->height;
    while (!has_place(height, block))
        ++height;
    return extend_at(knowledge, block, std::move(cover), height);
}

const Cover* find(const Knowledge& knowledge, std::uint32_t block)
{
    const KnowledgeNode* node = knowledge.get();
    if (node == nullptr || !has_place(node->height, block))
        return nullptr;
    // A child may be more than one level lower than its parent. The digits in between are then 0.
    for (unsigned height = node->height; node != nullptr && height > 0; --height)
        if (node->height == height)
            node = static_cast<const Inner*>(node)->children[digit(block, height)].get();
        else if (digit(block, height) != 0)
            return nullptr;
    return node == nullptr ? nullptr : &cover_of(*node);
}

}  // namespace segfold::simt
