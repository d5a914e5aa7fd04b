#pragma once
// Tries laws on all states of an operator that has at most 256 states.
#include <chrono>
#include <optional>

#include "dsl/laws/judge.h"

namespace segfold {

using Deadline = std::chrono::steady_clock::time_point;

/// Outcome of trying all cases (states a, b, c) of an equation.
struct Exhaustion {
    std::int64_t cases = 0;
    bool finished = false;          ///< false: time ran out
    std::vector<LawCase> suspects;  ///< a few cases that break the equation, simplest first
};

/// The reachable states of an operator, and a table of combine for every pair of states.
///
/// Requires that num_small_states(op) has a value, and that combine never rounds.
class StateTable {
public:
    StateTable(const Operator& op, LawMachine& machine, std::mt19937_64& random);

    /// True if the table has every reachable state, because all elements were lifted or every state was
    /// reached.
    [[nodiscard]] bool complete() const { return complete_; }
    /// Number of reachable states.
    [[nodiscard]] std::size_t num_states() const { return reached_.size(); }

    [[nodiscard]] Exhaustion try_all(Equation equation, Deadline deadline) const;

private:
    /// The first way to reach a state: an element alone, or appended to state `earlier`.
    struct Origin {
        std::optional<int> earlier;
        Element element;
    };

    void combine_all();
    std::vector<std::pair<int, Element>> lift_all(const Operator& op, std::mt19937_64& random);
    void reach_all(const std::vector<std::pair<int, Element>>& lifted);
    [[nodiscard]] int encode(const Slot<double>* state) const;
    void decode(int code, Slot<double>* state) const;
    [[nodiscard]] int combined(int a, int b) const { return table_[static_cast<std::size_t>(a * size_ + b)]; }
    [[nodiscard]] Recipe recipe(int state) const;
    void try_associativity(Deadline deadline, Exhaustion& result) const;
    void suspect(std::initializer_list<int> states, Exhaustion& result) const;

    LawMachine& machine_;
    int size_;
    std::vector<std::uint8_t> table_;  ///< combine(a, b) at a * size_ + b
    std::vector<int> reached_;
    std::vector<Origin> origins_;  ///< the origin of each reached state
    int identity_ = 0;
    bool complete_ = false;
};

/// Returns the number of states that the fields can hold. Returns none if it exceeds 256, or if a field is
/// neither a bool nor an 8-bit integer.
std::optional<int> num_small_states(const Operator& op);

}  // namespace segfold
