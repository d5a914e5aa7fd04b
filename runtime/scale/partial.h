#pragma once
// The result of a part of the elements: partial results, joined in the order of their parts by `+`.
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
    as_cut,  ///< from left to right: the cuts decide where the parentheses stand
    /// As a binary tree over blocks of kJoinBlock elements, counted from the segment's begin; cuts do not
    /// matter.
    blocks,
};

/// Elements of a block; the last block of a segment may have fewer.
inline constexpr std::int64_t kJoinBlock = 4096;

/// Facts that the partials of one fold share.
struct Joining {
    Joining(const Operator& op, JoinOrder order);

    std::vector<ResultField> results;  ///< results of segments; none if the operator does not keep them
    Bytecode bytecode;
    JoinOrder order;
    /// A hash of the operator and the order; from_bytes() refuses bytes with another hash.
    std::uint64_t identity;
};

/// Results of consecutive segments.
struct SegmentResults {
    std::int64_t first_segment = 0;  ///< its number in the whole input
    std::int64_t num_segments = 0;
    Results results = {};  ///< an array for each result field
};

/// Copies results into the arrays `into`, whose first entries belong to `first_segment`.
void store(const SegmentResults& from, Results& into, std::int64_t first_segment = 0);

/// Consecutive elements of one segment.
struct SegmentPart {
    std::int64_t segment = 0;   ///< its number in the whole input
    std::int64_t position = 0;  ///< the first element's place in its segment
    std::int64_t num_elements = 0;
    bool closes = false;  ///< true if the segment goes on behind these elements
};

/// The result of folding a part of the elements, cut anywhere: the results of the segments that begin and end
/// in the part, and one state for each segment that is cut by the part's begin or end.
///
/// `a + b` is the partial of both parts; `a` is the earlier one. The sum is associative, and a partial of
/// nothing is its identity. With JoinOrder::blocks the bits of a sum depend on the elements alone, if each
/// cut lies a multiple of kJoinBlock elements behind the begin of the segment that it cuts.
class Partial {
public:
    using Value = Slot<double>;

    /// Makes a partial of no element and no segment.
    explicit Partial(std::shared_ptr<const Joining> joining) : joining_(std::move(joining)) {}
    /// Makes a partial of whole segments. Borrowed arrays must live until take_results() or to_bytes().
    [[nodiscard]] static Partial of_segments(std::shared_ptr<const Joining> joining, SegmentResults results);
    /// Makes a partial of a part of one segment. `state` is the state of the part's elements; it is not read
    /// if the part has none. With JoinOrder::blocks the elements must lie in one block.
    [[nodiscard]] static Partial of_part(std::shared_ptr<const Joining> joining, const SegmentPart& part,
                                         const Value* state);

    /// True if the first segment began in an earlier part.
    [[nodiscard]] bool opens() const { return opens_; }
    /// True if the last segment goes on in a later part.
    [[nodiscard]] bool closes() const { return closes_; }
    /// The first segment's number in the whole input.
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
    /// Throws InternalError if the part's begin or end cuts a segment.
    void require_whole() const;

    /// The state of the part's elements of the segment that its begin cuts; null if it has none. Must not be
    /// called with JoinOrder::blocks, where a state has several nodes.
    [[nodiscard]] const Value* state_at_begin() const;
    /// The same of the segment that the part's end cuts.
    [[nodiscard]] const Value* state_at_end() const;
    /// A copy of the partial without results. It can be joined in its place.
    [[nodiscard]] Partial borders() const;

    /// Moves the results of segments that begin and end in this part out of the partial, except results that
    /// an earlier call took. The partial can still be joined.
    [[nodiscard]] SegmentResults take_results();

    /// Returns bytes for another process: 80 bytes, 16 + 8 F for each node of a state of F fields, then the
    /// results.
    [[nodiscard]] std::vector<std::byte> to_bytes() const;
    /// Throws InputError for damaged bytes, and for bytes of another fold or version.
    [[nodiscard]] static Partial from_bytes(std::shared_ptr<const Joining> joining,
                                            std::span<const std::byte> bytes);

private:
    /// The state of consecutive elements of one segment.
    ///
    /// With JoinOrder::blocks the state consists of nodes of a binary tree over the segment's blocks. A node
    /// of level l covers 2^l blocks, and its first block is a multiple of 2^l. Two halves of a node are
    /// combined as soon as both halves are known, so a state has at most two nodes of each level, which
    /// depend on the blocks alone. With JoinOrder::as_cut there is one node.
    struct State {
        struct Node {
            std::int64_t level = 0;
            std::int64_t place = 0;  ///< in units of 2^level blocks
        };

        std::int64_t num_elements = 0;
        std::vector<Node> nodes = {};
        std::vector<Value> values = {};  ///< [nodes][fields]
    };

    Evaluator<double>& evaluator();
    void append(State& state, State::Node node, const Value* values);
    /// Ends the open segment: finishes its state, or keeps the state in head_ if the segment began earlier.
    void end_segment();
    [[nodiscard]] bool is_nothing() const { return num_ended_ == 0 && !opens_ && !closes_; }

    std::shared_ptr<const Joining> joining_;
    std::int64_t first_segment_ = 0, num_ended_ = 0;
    bool opens_ = false, closes_ = false;
    State head_;                                    ///< state of a segment that began earlier and ends here
    State tail_;                                    ///< state of a segment that goes on in a later part
    std::vector<SegmentResults> results_;           ///< chunks in order; joined when results are taken
    std::unique_ptr<Evaluator<double>> evaluator_;  ///< made for the first combination
};

}  // namespace segfold
