#pragma once
// One thread's knowledge of the past of blocks: the memory accesses that happened before its own next one.
//
// Blocks learn of each other by fences and atomics only. A `Knowledge` is a set of covers, one for each block
// that was heard of; sets share their parts, so a chain of thousands of blocks stays cheap to extend and to
// join.
#include <cstdint>
#include <memory>
#include <vector>

namespace segfold::simt {

/// The accesses of one block that are known to be over.
///
/// All that happened before the block's barrier at `barrier_time`; besides, of the lanes listed, those before
/// `time`.
struct Cover {
    struct Lane {
        std::uint16_t thread;
        std::uint32_t time;
    };
    std::uint32_t barrier_time = 0;
    std::vector<Lane> lanes;  ///< sorted by thread

    /// Whether an access of `thread` at `time` is among them.
    [[nodiscard]] bool holds(unsigned thread, std::uint32_t time) const;
};

class KnowledgeNode;
/// An immutable set of covers, null when empty.
using Knowledge = std::shared_ptr<const KnowledgeNode>;

/// The union; either argument itself when it holds the other.
Knowledge join(const Knowledge& a, const Knowledge& b);

/// Adds `more` to `knowledge`, which stays the set that it is when it holds all of it.
void learn(Knowledge& knowledge, const Knowledge& more);

/// `knowledge` and `cover` of the block with number `block`.
Knowledge extend(const Knowledge& knowledge, std::uint32_t block, Cover cover);

/// The knowledge of `block`; null without any.
const Cover* find(const Knowledge& knowledge, std::uint32_t block);

}  // namespace segfold::simt
