#pragma once
// Folds one segment in bracketings and element orders other than the reference's.
#include <algorithm>
#include <cstdint>
#include <future>
#include <vector>

#include "dsl/evaluation/interpreter.h"
#include "dsl/stopped.h"
#include "runtime/support/random.h"

namespace segfold {

/// The bracketings of a fold. For the elements a, b, c, d, `left` combines ((a b) c) d, and `balanced`
/// combines (a b) (c d).
///
/// `random` splits the elements at random places. `runs` divides them into runs of neighbouring elements,
/// folds each run from left to right, and combines the runs in a balanced tree.
enum class FoldOrder : std::uint8_t { left, balanced, random, runs };

/// Lengths of the runs into which FoldOrder::runs divides a segment. The first run has `first` elements,
/// every other run `width` elements; the last run may be shorter. 0 < first <= width.
struct Runs {
    std::int64_t width = 1;
    std::int64_t first = 1;
};

/// Hashes a number, so that consecutive numbers give unrelated random values.
constexpr std::uint64_t mix_bits(std::uint64_t bits) { return RandomSequence(bits).at(0); }

/// A reordering of a segment's elements, for commutative operators.
///
/// If `width` is above 1, elements 0, width, 2 width, ... come first, then elements 1, width + 1, ... This is
/// the order of threads that load neighbouring elements.
struct Stripes {
    std::int64_t begin = 0;
    std::int64_t length = 0;
    std::int64_t width = 1;

    /// Returns the index of the element at position `place` of this order.
    [[nodiscard]] std::int64_t element(std::int64_t place) const
    {
        if (width <= 1)
            return begin + place;
        // The first `long_ones` stripes have one element more than the others.
        const std::int64_t short_length = length / width;
        const std::int64_t long_ones = length % width;
        const std::int64_t in_long_ones = long_ones * (short_length + 1);
        if (place < in_long_ones)
            return begin + place / (short_length + 1) + place % (short_length + 1) * width;
        place -= in_long_ones;
        return begin + long_ones + place / short_length + place % short_length * width;
    }
};

/// Folds one segment along a tree.
///
/// `Folder` is a copyable type with `Value`, `state_fields()`, `lift(index, Value* state)` and
/// `combine(earlier, later, node, out)`. `node` differs for each combination of the tree, and `out` may be
/// one of the operands. The tree depends only on length, order and seed, not on the number of threads. `runs`
/// is used only by FoldOrder::runs.
template <class Folder>
class TreeFold {
public:
    using Value = typename Folder::Value;

    TreeFold(Folder folder, FoldOrder order, Stripes stripes, std::uint64_t seed, Runs runs = {})
        : folder_(std::move(folder)),
          order_(order),
          stripes_(stripes),
          seed_(seed),
          runs_(runs),
          arena_(kMaxDepth * folder_.state_fields())
    {}

    /// Folds the elements, of which there must be at least one, into `state`.
    void fold(int threads, Value* state)
    {
        if (order_ == FoldOrder::left)
            fold_left(0, stripes_.length, 0, state);
        else if (order_ == FoldOrder::runs)
            fold_runs(0, num_runs(), 0, state);
        else
            fold_tree(0, stripes_.length, threads, 0, state);
    }

private:
    // The larger side of a split has at most three quarters of the elements, so 2^63 elements need at most
    // 152 levels.
    static constexpr std::size_t kMaxDepth = 160;
    static constexpr std::int64_t kMinParallelLength = std::int64_t{1} << 16;

    void fold_left(std::int64_t begin, std::int64_t end, std::size_t depth, Value* state)
    {
        Value* const item = arena_.data() + depth * folder_.state_fields();
        folder_.lift(stripes_.element(begin), state);
        for (std::int64_t i = begin + 1; i < end; ++i) {
            if (i % kElementsBetweenLooks == 0)
                throw_if_stopped();
            folder_.lift(stripes_.element(i), item);
            folder_.combine(state, item, i, state);
        }
    }

    [[nodiscard]] std::int64_t run_begin(std::int64_t run) const
    {
        return run == 0 ? 0 : std::min(stripes_.length, runs_.first + (run - 1) * runs_.width);
    }

    [[nodiscard]] std::int64_t num_runs() const
    {
        const std::int64_t behind_first = std::max<std::int64_t>(0, stripes_.length - runs_.first);
        return 1 + (behind_first + runs_.width - 1) / runs_.width;
    }

    void fold_runs(std::int64_t first, std::int64_t last, std::size_t depth, Value* state)
    {
        if (last - first == 1) {
            fold_left(run_begin(first), run_begin(last), depth, state);
            return;
        }
        const std::int64_t middle = first + (last - first) / 2;
        Value* const later = arena_.data() + depth * folder_.state_fields();
        fold_runs(first, middle, depth + 1, state);
        fold_runs(middle, last, depth + 1, later);
        folder_.combine(state, later, run_begin(middle), state);
    }

    void fold_tree(std::int64_t begin, std::int64_t end, int threads, std::size_t depth, Value* state)
    {
        if (end - begin == 1) {
            folder_.lift(stripes_.element(begin), state);
            return;
        }
        if (end - begin >= kElementsBetweenLooks)
            throw_if_stopped();
        const std::int64_t middle = split(begin, end);
        Value* const later = arena_.data() + depth * folder_.state_fields();
        if (threads > 1 && end - begin >= kMinParallelLength) {
            TreeFold other(folder_, order_, stripes_, seed_);
            auto branch = std::async(std::launch::async, [&, flag = stop_flag()] {
                exchange_stop_flag(flag);
                other.fold_tree(middle, end, threads / 2, 0, later);
            });
            fold_tree(begin, middle, threads - threads / 2, depth + 1, state);
            branch.get();
        } else {
            fold_tree(begin, middle, 1, depth + 1, state);
            fold_tree(middle, end, 1, depth + 1, later);
        }
        folder_.combine(state, later, middle, state);
    }

    [[nodiscard]] std::int64_t split(std::int64_t begin, std::int64_t end) const
    {
        const std::int64_t length = end - begin;
        if (order_ == FoldOrder::balanced || length == 2)
            return begin + length / 2;
        const auto draw =
            mix_bits(seed_ ^ mix_bits(static_cast<std::uint64_t>(begin)) ^ static_cast<std::uint64_t>(end));
        if (length == 3)
            return begin + 1 + static_cast<std::int64_t>(draw & 1);
        const std::int64_t quarter = length / 4;
        return begin + quarter +
               static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(length - 2 * quarter));
    }

    Folder folder_;
    FoldOrder order_;
    Stripes stripes_;
    std::uint64_t seed_;
    Runs runs_;
    std::vector<Value> arena_;
};

}  // namespace segfold
