#pragma once
// Tries all states of an operator that has few: 256 at most.
#include <chrono>
#include <optional>

#include "dsl/laws/judge.h"

namespace segfold {

using Deadline = std::chrono::steady_clock::time_point;

/// The outcome of trying all cases of an equation.
struct Exhaustion {
    std::int64_t cases = 0;
    bool finished = false;          ///< false: the time ran out
    std::vector<LawCase> suspects;  ///< cases that break the equation, few and simplest first
};

/// The states that can occur, and combine of every pair, as a table.
///
/// Only for operators with `num_small_states(op)`, whose combine is exact.
class StateTable {
public:
    StateTable(const Operator& op, LawMachine& machine, std::mt19937_64& random);

    /// True if no state is missing: all elements were lifted, or every state was reached.
    [[nodiscard]] bool complete() const { return complete_; }
    /// The states that can occur.
    [[nodiscard]] std::size_t num_states() const { return reached_.size(); }

    [[nodiscard]] Exhaustion try_all(Equation equation, Deadline deadline) const;

private:
    /// How a state was first reached: an element, combined to the right of another state.
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
    std::vector<std::uint8_t> table_;  ///< [earlier][later]
    std::vector<int> reached_;
    std::vector<Origin> origins_;  ///< [state], for reached ones
    int identity_ = 0;
    bool complete_ = false;
};

/// How many states the fields can hold, if they are bools and 8-bit integers and it is 256 at most.
std::optional<int> num_small_states(const Operator& op);

}  // namespace segfold
