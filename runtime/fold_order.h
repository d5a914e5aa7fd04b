#pragma once
// Folds of one segment in other association orders than the reference's, the operands' order always kept.
#include <algorithm>
#include <cstdint>
#include <future>
#include <span>
#include <vector>

#include "dsl/interpreter.h"

namespace segfold {

/// How a segment is bracketed: ((a b) c) d, (a b) (c d), or at places drawn by lot.
enum class FoldOrder : std::uint8_t { left, balanced, random };

/// Mixes a number's bits; good enough to draw lots from consecutive numbers (Steele, Lea, Flood 2014,
/// SplitMix64).
constexpr std::uint64_t mix_bits(std::uint64_t bits)
{
    bits += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

/// Folds elements begin .. end - 1 of one segment along a tree.
///
/// `Folder` is a copyable type with `Value`, `state_fields()`, `lift(index, Value* state)` and
/// `combine(earlier, later, node, out)`, where `node` is the first element of the later operand and `out` may
/// be one of the operands. The tree depends on range, order and seed alone; `threads` only shares out its
/// branches.
template <class Folder>
class TreeFold {
public:
    using Value = typename Folder::Value;

    TreeFold(Folder folder, FoldOrder order, std::uint64_t seed)
        : folder_(std::move(folder)), order_(order), seed_(seed), arena_(kMaxDepth * folder_.state_fields())
    {}

    /// Writes the state of the elements, at least one, to `state`.
    void fold(std::int64_t begin, std::int64_t end, int threads, Value* state)
    {
        if (order_ == FoldOrder::left)
            fold_left(begin, end, state);
        else
            fold_tree(begin, end, threads, 0, state);
    }

    [[nodiscard]] Folder& folder() { return folder_; }

private:
    // A split leaves at most three quarters on one side: 2^63 elements are 152 levels deep.
    static constexpr std::size_t kMaxDepth = 160;
    static constexpr std::int64_t kMinParallelLength = std::int64_t{1} << 16;

    void fold_left(std::int64_t begin, std::int64_t end, Value* state)
    {
        folder_.lift(begin, state);
        for (std::int64_t i = begin + 1; i < end; ++i) {
            folder_.lift(i, arena_.data());
            folder_.combine(state, arena_.data(), i, state);
        }
    }

    void fold_tree(std::int64_t begin, std::int64_t end, int threads, std::size_t depth, Value* state)
    {
        if (end - begin == 1) {
            folder_.lift(begin, state);
            return;
        }
        const std::int64_t middle = split(begin, end);
        Value* const later = arena_.data() + depth * folder_.state_fields();
        if (threads > 1 && end - begin >= kMinParallelLength) {
            TreeFold other(folder_, order_, seed_);
            auto branch =
                std::async(std::launch::async, [&] { other.fold_tree(middle, end, threads / 2, 0, later); });
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
        if (order_ == FoldOrder::balanced || length < 4)
            return length == 3 && order_ == FoldOrder::random &&
                           (mix_bits(seed_ ^ static_cast<std::uint64_t>(begin)) & 1)
                       ? begin + 2
                       : begin + length / 2;
        const auto draw =
            mix_bits(seed_ ^ mix_bits(static_cast<std::uint64_t>(begin)) ^ static_cast<std::uint64_t>(end));
        const std::int64_t quarter = length / 4;
        return begin + quarter +
               static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(length - 2 * quarter));
    }

    Folder folder_;
    FoldOrder order_;
    std::uint64_t seed_;
    std::vector<Value> arena_;
};

}  // namespace segfold
