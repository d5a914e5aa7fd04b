#pragma once
// The two running states of a scan at each element: before the element and through it.
#include <cstdint>
#include <limits>
#include <vector>

#include "dsl/evaluation/evaluator.h"

namespace segfold {

/// Returns the state before the first element of a scan. This is the identity; without an identity, it is a
/// state that no scan reads.
template <class Real>
std::vector<Slot<Real>> state_before_first(const Bytecode& bytecode)
{
    std::vector<Slot<Real>> state(bytecode.state.size());
    if (bytecode.has_identity)
        Evaluator<Real>(bytecode).identity(state.data());
    return state;
}

/// Takes the lifted elements of one segment in scan order and keeps the running states.
///
/// Each chunk of elements is folded alone and then combined with the state of all earlier chunks, as kernels
/// do with tiles. With chunk length kEndless, elements are combined one after the other. Chunks hold
/// neighbouring elements, so the chunk length changes only the bracketing, not the order of elements.
template <class Value>
class RunningState {
public:
    static constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

    explicit RunningState(std::vector<Value> before_first, bool is_reverse,
                          std::int64_t chunk_length = kEndless)
        : is_reverse_(is_reverse),
          chunk_length_(chunk_length),
          before_(before_first.size()),
          through_(std::move(before_first)),
          chunk_(before_.size()),
          chunks_(before_.size())
    {}

    /// Takes the next element. `combine(earlier, later, out)` combines states; `out` may be one of its
    /// operands.
    template <class Combine>
    void take(const std::vector<Value>& lifted, const Combine& combine)
    {
        const auto join = [&](const std::vector<Value>& visited, const std::vector<Value>& next, Value* out) {
            if (is_reverse_)
                combine(next.data(), visited.data(), out);
            else
                combine(visited.data(), next.data(), out);
        };
        before_.swap(through_);
        if (in_chunk_ == 0)
            chunk_ = lifted;
        else
            join(chunk_, lifted, chunk_.data());
        if (has_chunks_)
            join(chunks_, chunk_, through_.data());
        else
            through_ = chunk_;
        if (++in_chunk_ < chunk_length_)
            return;
        chunks_ = through_;
        has_chunks_ = true;
        in_chunk_ = 0;
    }

    [[nodiscard]] const Value* before() const { return before_.data(); }
    [[nodiscard]] const Value* through() const { return through_.data(); }

private:
    bool is_reverse_;
    std::int64_t chunk_length_;
    std::int64_t in_chunk_ = 0;
    bool has_chunks_ = false;
    std::vector<Value> before_, through_;
    std::vector<Value> chunk_;   ///< state of the open chunk
    std::vector<Value> chunks_;  ///< state of all closed chunks
};

/// Calls `visit(element)` for the elements `begin` to `end` - 1 in scan order.
template <class Visit>
void visit_in_order(std::int64_t begin, std::int64_t end, bool is_reverse, const Visit& visit)
{
    for (std::int64_t k = 0; k < end - begin; ++k)
        visit(is_reverse ? end - 1 - k : begin + k);
}

}  // namespace segfold
