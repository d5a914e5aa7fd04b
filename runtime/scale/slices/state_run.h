#pragma once
// The state of some consecutive elements of one segment, kept so that the order of combination is fixed.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsl/evaluation/evaluator.h"

namespace segfold {

/// In which order the parts of a segment that was cut are combined.
enum class JoinOrder : std::uint8_t {
    as_cut,  ///< one part after the other: the order follows from where the cuts are
    blocks,  ///< as a tree over blocks of kJoinBlock elements from the segment's begin on, wherever cuts are
};

/// Elements of a block, the last one of a segment apart.
inline constexpr std::int64_t kJoinBlock = 4096;

/// States of consecutive blocks of one segment.
///
/// With JoinOrder::blocks, the states are nodes of a binary tree over the segment's blocks: a node of level l
/// covers 2^l blocks, from a multiple of 2^l on. Two halves are combined as soon as both are there, so that
/// the nodes follow from the blocks that are covered, and not from the way they came together: at most two of
/// each level. With JoinOrder::as_cut there is one state.
class StateRun {
public:
    using Value = Slot<double>;

    explicit StateRun(std::size_t state_fields = 0, JoinOrder order = JoinOrder::as_cut)
        : num_fields_(state_fields), order_(order)
    {}

    [[nodiscard]] bool is_empty() const { return nodes_.empty(); }
    /// Adds the state of a block that follows those that are there.
    void append(Evaluator<double>& evaluator, std::int64_t block, const Value* state);
    /// Adds what follows.
    void append(Evaluator<double>& evaluator, const StateRun& later);
    /// The state of all of it, which must not be empty; of the whole segment, if the order is to be fixed.
    void total(Evaluator<double>& evaluator, Value* state) const;

    /// As bytes, which another process takes apart: 16 bytes a node and 8 for each field of its state.
    [[nodiscard]] std::vector<std::byte> pack() const;
    /// Throws InternalError for bytes that are none.
    [[nodiscard]] static StateRun unpack(std::span<const std::byte> bytes, std::size_t state_fields,
                                         JoinOrder order);

private:
    struct Node {
        std::int64_t level = 0;
        std::int64_t place = 0;  ///< in units of 2^level blocks
    };

    void add(Evaluator<double>& evaluator, Node node, const Value* state);

    std::size_t num_fields_;
    JoinOrder order_;
    std::vector<Node> nodes_;
    std::vector<Value> states_;  ///< [nodes][fields]
};

}  // namespace segfold
