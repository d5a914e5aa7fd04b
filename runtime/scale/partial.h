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
    blocks,  ///< as a tree over blocks of kJoinBlock elements from the segment's begin on, whatever the cuts
};

/// Elements of a block; the last block of a segment may have fewer.
inline constexpr std::int64_t kJoinBlock = 4096;

/// What the partials of one fold share.
struct Joining {
    Joining(const Operator& op, JoinOrder order);

    std::vector<ResultField> results;
    Bytecode bytecode;
    JoinOrder order;
    std::uint64_t identity;  ///< a hash of the operator and the order: bytes of another fold are refused
};

/// Results of consecutive segments.
struct SegmentResults {
    std::int64_t first_segment = 0;  ///< its number in the whole input
    std::int64_t num_segments = 0;
    Results results = {};  ///< an array for each result field
};

/// Copies results to the place of their segments in arrays whose first entry is of `first_segment`.
void store(const SegmentResults& from, Results& into, std::int64_t first_segment = 0);

/// Consecutive elements of one segment.
struct SegmentPart {
    std::int64_t segment = 0;   ///< its number in the whole input
    std::int64_t position = 0;  ///< place in the segment of the first element
    std::int64_t num_elements = 0;
    bool closes = false;  ///< the segment goes on behind them
};

/// The result of a part of the elements, cut anywhere: results of the segments that end inside, and the state
/// of the segment at either border that is not complete.
///
/// `a + b` is the partial of both parts; `a` is the earlier one. The sum is associative, and a partial of
/// nothing is its identity. With JoinOrder::blocks its bits depend on the elements alone, if every cut lies
/// whole blocks behind the begin of its segment.
class Partial {
public:
    using Value = Slot<double>;

    /// Of no element and no segment.
    explicit Partial(std::shared_ptr<const Joining> joining) : joining_(std::move(joining)) {}
    /// Of whole segments. Borrowed arrays must live until take_results() or to_bytes().
    [[nodiscard]] static Partial of_segments(std::shared_ptr<const Joining> joining, SegmentResults results);
    /// Of a part of one segment; `state` is that of its elements, and is not read if there are none. With
    /// JoinOrder::blocks the elements must lie in one block.
    [[nodiscard]] static Partial of_part(std::shared_ptr<const Joining> joining, const SegmentPart& part,
                                         const Value* state);

    /// True if the first segment began in an earlier part.
    [[nodiscard]] bool opens() const { return opens_; }
    /// True if the last segment goes on in a later part.
    [[nodiscard]] bool closes() const { return closes_; }
    /// The number in the whole input of the first segment.
    [[nodiscard]] std::int64_t first_segment() const { return first_segment_; }
    /// Segments that end here.
    [[nodiscard]] std::int64_t num_ended() const { return num_ended_; }
    /// The number of the segment that goes on, else of the first one of the next part.
    [[nodiscard]] std::int64_t next_segment() const { return first_segment_ + num_ended_; }

    /// Throws InternalError if `later` does not follow.
    Partial& operator+=(Partial&& later);
    friend Partial operator+(Partial earlier, Partial later)
    {
        earlier += std::move(later);
        return earlier;
    }
    /// Throws InternalError if a segment is cut at the begin or at the end.
    void require_whole() const;

    /// Moves out the results that are known: of the segments that began and ended here, less those that were
    /// taken before. The rest can still be joined.
    [[nodiscard]] SegmentResults take_results();

    /// Bytes for another process: 80, 16 + 8 F for each state of F fields, and the results.
    [[nodiscard]] std::vector<std::byte> to_bytes() const;
    /// Throws InputError for damaged bytes, and for those of another fold or version.
    [[nodiscard]] static Partial from_bytes(std::shared_ptr<const Joining> joining,
                                            std::span<const std::byte> bytes);

private:
    /// The state of consecutive elements of one segment.
    ///
    /// With JoinOrder::blocks, nodes of a binary tree over the segment's blocks: a node of level l covers 2^l
    /// blocks, from a multiple of 2^l on. Halves are combined as soon as both are there, so that the blocks
    /// decide which nodes there are: at most two of each level. With JoinOrder::as_cut there is one node.
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
    /// Ends the segment that goes on: here is its end.
    void end_segment();
    [[nodiscard]] bool is_nothing() const { return num_ended_ == 0 && !opens_ && !closes_; }

    std::shared_ptr<const Joining> joining_;
    std::int64_t first_segment_ = 0, num_ended_ = 0;
    bool opens_ = false, closes_ = false;
    State head_;                                    ///< if a segment opens and ends here, of its elements
    State tail_;                                    ///< if a segment closes, of its elements
    std::vector<SegmentResults> results_;           ///< in order; not joined before they are asked for
    std::unique_ptr<Evaluator<double>> evaluator_;  ///< made for the first combination
};

}  // namespace segfold
