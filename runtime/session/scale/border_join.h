#pragma once
// The borders of slices joined in slice order: the results of the segments that cuts have cut.
#include <optional>
#include <vector>

#include "runtime/data/workload.h"
#include "runtime/session/scale/slice_fold.h"

namespace segfold {

/// Takes the borders of slices, each after the one before it.
class BorderJoin {
public:
    /// `op` must outlive it.
    BorderJoin(const Operator& op, JoinOrder order);

    /// The result of a segment that ends in a slice and began before it, one value for each result field.
    struct Finished {
        std::int64_t segment = 0;
        std::vector<Slot<double>> result = {};

        /// Writes it at place `at` of an array for each result field.
        void store(Results& results, std::int64_t at) const;
    };
    /// Throws InternalError for a border that cannot follow.
    [[nodiscard]] std::optional<Finished> add(const Border& border);
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
};

}  // namespace segfold
