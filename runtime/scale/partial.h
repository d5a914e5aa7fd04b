#pragma once
// Partial results: folds of parts of the elements, joined by `+` in the order of the parts.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "runtime/data/workload.h"

namespace segfold {

/// The order in which the parts of one segment are combined.
enum class JoinOrder : std::uint8_t {
    as_cut,  ///< from left to right, so the parentheses depend on the cuts
    /// As a binary tree over blocks of kJoinBlock elements. Blocks are counted from the segment's begin, so
    /// the parentheses do not depend on the cuts.
    blocks,
};

/// Number of elements of a block. The last block of a segment may have fewer.
inline constexpr std::int64_t kJoinBlock = 4096;

/// Facts that the partials of one fold share.
struct Joining {
    Joining(const Operator& op, JoinOrder order);

    std::vector<ResultField> results;  ///< result fields of segments; empty if the operator keeps no results
    Bytecode bytecode;
    JoinOrder order;
    /// A hash of the operator and the order; from_bytes() refuses bytes with another hash.
    std::uint64_t identity;
};

/// Results of consecutive segments.
struct SegmentResults {
    std::int64_t first_segment = 0;  ///< number of the first segment in the whole input
    std::int64_t num_segments = 0;
    Results results = {};  ///< an array for each result field
};

/// Copies results into the arrays `into`, in which entry 0 belongs to segment `first_segment`.
void store(const SegmentResults& from, Results& into, std::int64_t first_segment = 0);

/// Consecutive elements of one segment.
struct SegmentPart {
    std::int64_t segment = 0;   ///< number of the segment in the whole input
    std::int64_t position = 0;  ///< position of the first element in the segment
    std::int64_t num_elements = 0;
    bool closes = false;  ///< true if the segment continues after these elements
};

/// The fold of a part of the elements, cut anywhere. It has the results of the segments that begin and end in
/// the part, and a state for each segment that the part's begin or end cuts.
///
/// `a + b` is the partial of both parts; `a` is the earlier part. The sum is associative. Its identity is a
/// partial without elements and segments. With JoinOrder::blocks the bits of a sum depend only on the
/// elements, if every cut lies a multiple of kJoinBlock elements after the begin of the segment that it cuts.
class Partial {
public:
    using Value = Slot<double>;

    /// Makes an empty partial, without elements and segments.
    explicit Partial(std::shared_ptr<const Joining> joining) : joining_(std::move(joining)) {}
    /// Makes a partial of whole segments. Arrays that `results` borrow must live until take_results() or
    /// to_bytes().
    [[nodiscard]] static Partial of_segments(std::shared_ptr<const Joining> joining, SegmentResults results);
    /// Makes a partial of a part of one segment. `state` is the state of the part's elements; it is not read
    /// if there are no elements. With JoinOrder::blocks the elements must lie in one block.
    [[nodiscard]] static Partial of_part(std::shared_ptr<const Joining> joining, const SegmentPart& part,
                                         const Value* state);

    /// True if the first segment began in an earlier part.
    [[nodiscard]] bool opens() const { return opens_; }
    /// True if the last segment continues in a later part.
    [[nodiscard]] bool closes() const { return closes_; }
    /// The number, in the whole input, of the first segment that this part touches.
    [[nodiscard]] std::int64_t first_segment() const { return first_segment_; }
    /// The number of segments that end in this part.
    [[nodiscard]] std::int64_t num_ended() const { return num_ended_; }
    /// The number of the first segment that does not end in this part.
    [[nodiscard]] std::int64_t next_segment() const { return first_segment_ + num_ended_; }

    /// Throws InternalError if `later` does not begin where this part ends.
    Partial& operator+=(Partial&& later);
    friend Partial operator+(Partial earlier, Partial later)
    {
        earlier += std::move(later);
        return earlier;
    }
    /// Throws InternalError if the begin or end of this part cuts a segment.
    void require_whole() const;

    /// Returns the state of the part's elements in the segment that its begin cuts; null if there are none.
    /// Must not be called with JoinOrder::blocks, because a state then has several nodes.
    [[nodiscard]] const Value* state_at_begin() const;
    /// Returns the state of the part's elements in the segment that its end cuts; null if there are none.
    [[nodiscard]] const Value* state_at_end() const;
    /// Returns a copy without results, which can replace this partial in a sum.
    [[nodiscard]] Partial borders() const;

    /// Moves out the results of segments that begin and end in this part, except results that an earlier call
    /// has taken. The partial can still be a part of sums.
    [[nodiscard]] SegmentResults take_results();

    /// Returns the partial as bytes, for another process. They are a header of 80 bytes, 16 + 8 F bytes for
    /// each node of a state of F fields, and the results.
    [[nodiscard]] std::vector<std::byte> to_bytes() const;
    /// Throws InputError for damaged bytes, and for bytes of another fold or version.
    [[nodiscard]] static Partial from_bytes(std::shared_ptr<const Joining> joining,
                                            std::span<const std::byte> bytes);

private:
    /// The state of consecutive elements of one segment.
    ///
    /// With JoinOrder::as_cut it has one node. With JoinOrder::blocks it has nodes of a binary tree over the
    /// segment's blocks. A node of level l covers 2^l blocks, and the number of its first block is a multiple
    /// of 2^l. Two halves are combined as soon as both are known. A state therefore has at most two nodes of
    /// each level, and the nodes depend only on the blocks.
    struct State {
        struct Node {
            std::int64_t level = 0;
            std::int64_t place = 0;  ///< number of the node's first block, divided by 2^level
        };

        std::int64_t num_elements = 0;
        std::vector<Node> nodes = {};
        std::vector<Value> values = {};  ///< fields of each node's state: [nodes][fields]
    };

    Evaluator<double>& evaluator();
    void append(State& state, State::Node node, const Value* values);
    /// Ends the open segment: finishes its state, or keeps the state in head_ if the segment began earlier.
    void end_segment();
    [[nodiscard]] bool is_nothing() const { return num_ended_ == 0 && !opens_ && !closes_; }

    std::shared_ptr<const Joining> joining_;
    std::int64_t first_segment_ = 0, num_ended_ = 0;
    bool opens_ = false, closes_ = false;
    State head_;  ///< state of a segment that began earlier and ends here
    State tail_;  ///< state of a segment that continues in a later part
    /// Results of consecutive segments, in chunks; take_results() joins the chunks.
    std::vector<SegmentResults> results_;
    std::unique_ptr<Evaluator<double>> evaluator_;  ///< null before the first combine
};

}  // namespace segfold
