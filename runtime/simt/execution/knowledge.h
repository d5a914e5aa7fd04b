#pragma once
// The memory accesses of other blocks that happened before a thread's next access.
//
// Blocks learn of each other only through fences and atomics. A `Knowledge` has one `Cover` for each known
// block. Equal subtrees are shared, so knowledge of thousands of blocks is cheap to extend and to join.
#include <cstdint>
#include <memory>
#include <vector>

namespace segfold::simt {

/// The accesses of one block that are known to be over.
///
/// A cover contains all accesses before the block's barrier at `barrier_time`. For each thread in `lanes` it
/// also contains accesses before the thread's `time`.
struct Cover {
    struct Lane {
        std::uint16_t thread;
        std::uint32_t time;
    };
    std::uint32_t barrier_time = 0;
    std::vector<Lane> lanes;  ///< sorted by thread

    /// True if the cover contains an access that `thread` made at `time`.
    [[nodiscard]] bool holds(unsigned thread, std::uint32_t time) const;
};

class KnowledgeNode;
/// An immutable set of covers, null when empty.
using Knowledge = std::shared_ptr<const KnowledgeNode>;

/// Returns the union of two sets. If one contains the other, returns the larger set itself.
Knowledge join(const Knowledge& a, const Knowledge& b);

/// Adds `more` to `knowledge`. The pointer stays the same if `knowledge` already contains all of `more`.
void learn(Knowledge& knowledge, const Knowledge& more);

/// Returns `knowledge` with `cover` added for the block with number `block`.
Knowledge extend(const Knowledge& knowledge, std::uint32_t block, Cover cover);

/// Returns the cover of `block`; null if `knowledge` has none.
const Cover* find(const Knowledge& knowledge, std::uint32_t block);

}  // namespace segfold::simt
