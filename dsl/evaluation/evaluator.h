#pragma once
// Evaluates an operator on the host, state by state. This defines the meaning of the language.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// Precision of floats. `working` rounds as the types say; `wide` holds every float in long double.
///
/// Decisions of a lift are the same in both: comparisons, integers made of floats, floor, ceil, round and
/// conversions to narrower floats use the values of working precision. So elements keep their meaning, and
/// only the sums over them are wide.
enum class Precision : std::uint8_t { working, wide };

/// Runs the parts of an operator on states held in slots. An evaluator may serve one thread at a time.
///
/// Real is double for working precision and long double for wide precision. A state takes `state_fields()`
/// slots.
template <class Real>
class Evaluator {
public:
    using Value = Slot<Real>;

    /// `tables` follow the order of the operator's parameters. Bytecode and tables must outlive the
    /// evaluator.
    explicit Evaluator(const Bytecode& bytecode, std::vector<TableView> tables = {});

    [[nodiscard]] std::size_t state_fields() const { return bytecode_.state.size(); }
    [[nodiscard]] std::size_t result_fields() const { return bytecode_.results.size(); }
    [[nodiscard]] std::size_t output_fields() const { return bytecode_.outputs.size(); }

    void identity(Value* state);
    /// Lifts the element at `index` of the columns. Throws InputError if it reads past a table's end.
    void lift(std::span<const void* const> columns, std::int64_t index, std::int64_t position,
              std::int64_t segment, Value* state);
    /// Lifts an element whose column values are given.
    void lift(const Value* values, std::int64_t index, std::int64_t position, std::int64_t segment,
              Value* state);
    /// `out` may be one of the operands.
    void combine(const Value* earlier, const Value* later, Value* out);
    /// Appends an element to `state`. `element` holds its column values, then index, position and segment.
    void append(const Value* state, const Value* element, Value* out);
    void finish(const Value* state, std::int64_t segment, std::int64_t length, Value* result);
    void empty(std::int64_t segment, Value* result);
    /// Maps the element at `index`. `result` holds the finished results of its segment; `out` receives the
    /// outputs.
    void map(std::span<const void* const> columns, std::int64_t index, std::int64_t position,
             std::int64_t segment, std::int64_t length, const Value* result, Value* out);

    /// Folds elements `begin` to `end` - 1 from left to right; there must be at least one. The first has
    /// `position` in its segment. Gives the same state as lift and combine by turns, but is faster.
    void fold(std::span<const void* const> columns, std::int64_t begin, std::int64_t end,
              std::int64_t position, std::int64_t segment, Value* state);

private:
    /// A program with slots of its own, in which the constants are set.
    struct Frame {
        const Program* program = nullptr;
        std::vector<Value> slots;
    };

    static Frame make_frame(const Program& program);
    /// Runs lift in its frame, whose inputs are set, for the element at `index`.
    void run_lift(std::int64_t index);
    /// `element` is the index of the lifted element. Other parts read no tables.
    void run(Frame& frame, Value* out, std::int64_t element = 0);
    [[noreturn]] void report(const Outcome& outcome, std::int64_t element) const;

    const Bytecode& bytecode_;
    std::vector<TableView> tables_;
    Frame identity_, lift_, combine_, append_, finish_, empty_, map_;
    /// Lift's slots in working precision, by which a wide lift decides; else empty.
    std::vector<Slot<double>> deciding_;
};

/// The message for an element that reads past a table's end.
std::string outside_message(const Bytecode& bytecode, const Outcome& outcome, std::int64_t table_length,
                            std::int64_t element);

extern template class Evaluator<double>;
extern template class Evaluator<long double>;

}  // namespace segfold
