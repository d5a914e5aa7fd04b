#pragma once
// The borders of slices joined in slice order: the results of the segments that cuts have cut.
#include <optional>
#include <vector>

#include "runtime/data/workload.h"
#include "runtime/scale/slices/slice_fold.h"

namespace segfold {

/// What lies before the first slice that a join takes.
enum class JoinBegin : std::uint8_t {
    input,     ///< nothing
    anywhere,  ///< slices that another join takes: the first segment may go on from there
};

/// Takes the borders of slices, each after the one before it.
class BorderJoin {
public:
    /// `op` must outlive it.
    BorderJoin(const Operator& op, JoinOrder order, JoinBegin begin = JoinBegin::input);

    /// The result of a segment that ends in a slice and began before it, one value for each result field.
    struct Finished {
        std::int64_t segment = 0;
        std::vector<Slot<double>> result = {};

        /// Writes it at place `at` of an array for each result field.
        void store(Results& results, std::int64_t at) const;
    };
    /// Throws InternalError for a border that cannot follow. The end of a segment that goes on from before
    /// all slices has no result here: border() has it as its head.
    [[nodiscard]] std::optional<Finished> add(const Border& border);
    /// All slices until now as one: what they leave open at their common begin and end.
    [[nodiscard]] Border border() const;
    /// True while a segment is open.
    [[nodiscard]] bool is_open() const { return !open_.is_empty(); }

    /// What has been joined until now, to go on in another process; `add` of the rest gives the same.
    [[nodiscard]] std::vector<std::byte> pack() const;
    void unpack(std::span<const std::byte> bytes);

private:
    Bytecode bytecode_;
    Evaluator<double> evaluator_;
    JoinOrder order_;
    StateRun open_;
    std::int64_t open_items_ = 0;
    bool takes_head_;         ///< the next border may go on with what lies before all slices
    bool goes_on_ = false;    ///< the open segment began there
    bool has_ended_ = false;  ///< a segment has ended in the slices
    Border head_;             ///< the head alone
};

/// A border as bytes, which another process takes apart: 40, and what StateRun::pack() makes of its states.
[[nodiscard]] std::vector<std::byte> pack(const Border& border);
/// Throws InternalError for bytes that are none.
[[nodiscard]] Border unpack_border(std::span<const std::byte> bytes, std::size_t state_fields,
                                   JoinOrder order);

/// The results of segments, of which the first may have been finished at a border and `num_inner` lie inside;
/// borrowed ones are copied.
[[nodiscard]] Results with_first(const Operator& op, const std::optional<BorderJoin::Finished>& first,
                                 Results inner, std::int64_t num_inner);

}  // namespace segfold
