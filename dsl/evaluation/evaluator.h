#pragma once
// Evaluates an operator on the host, state by state. This defines the meaning of the language.
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// Precision of floating-point values. Working precision rounds as the types demand. Wide precision holds
/// every float in long double.
///
/// In wide precision too, lift takes its decisions from the values of working precision: comparisons,
/// conversions to integers and to narrower floats, floor, ceil and round. So both precisions fold the same
/// elements, and only the sums are wide.
enum class Precision : std::uint8_t { working, wide };

/// Runs an operator's parts on states held in slots. One evaluator serves one thread at a time.
///
/// Real is double for working precision and long double for wide precision. A state takes `state_fields()`
/// slots.
template <class Real>
class Evaluator {
public:
    using Value = Slot<Real>;

    /// `tables` holds the operator's tables in the order of its parameters. Both arguments must outlive the
    /// evaluator.
    explicit Evaluator(const Bytecode& bytecode, std::vector<TableView> tables = {});

    [[nodiscard]] std::size_t state_fields() const { return bytecode_.state.size(); }
    [[nodiscard]] std::size_t result_fields() const { return bytecode_.results.size(); }
    [[nodiscard]] std::size_t output_fields() const { return bytecode_.outputs.size(); }

    void identity(Value* state);
    /// Lifts the element at `index` of the columns. Throws InputError if lift reads outside of a table.
    void lift(std::span<const void* const> columns, std::int64_t index, std::int64_t position,
              std::int64_t segment, Value* state);
    /// Lifts an element with the given column values.
    void lift(const Value* values, std::int64_t index, std::int64_t position, std::int64_t segment,
              Value* state);
    /// Combines two states. `out` may be the same as `earlier` or `later`.
    void combine(const Value* earlier, const Value* later, Value* out);
    /// Appends an element to `state`. `element` holds the columns' values, then index, position and segment.
    void append(const Value* state, const Value* element, Value* out);
    void finish(const Value* state, std::int64_t segment, std::int64_t length, Value* result);
    void empty(std::int64_t segment, Value* result);
    /// Maps the element at `index`. `result` holds the finished results of its segment. `out` has room for
    /// all outputs; map sets some of them. Throws InputError if map reads outside of a table.
    void map(std::span<const void* const> columns, std::int64_t index, std::int64_t position,
             std::int64_t segment, std::int64_t length, const Value* result, Value* out);

    /// Scans the element at `index`. `out` has room for all outputs; scan sets some of them. Throws
    /// InputError if scan reads outside of a table.
    void scan(std::span<const void* const> columns, std::int64_t index, std::int64_t position,
              std::int64_t segment, const Value* before, const Value* through, Value* out);

    /// Folds the elements `begin` .. `end` - 1 from left to right. There must be at least one element.
    /// `position` is the index of element `begin` in its segment. Gives the same state as calls of lift and
    /// combine, but faster.
    void fold(std::span<const void* const> columns, std::int64_t begin, std::int64_t end,
              std::int64_t position, std::int64_t segment, Value* state);

private:
    /// A program and its slots, which hold the program's constants.
    struct Frame {
        const Program* program = nullptr;
        std::vector<Value> slots;
    };

    static Frame make_frame(const Program& program);
    /// Runs lift in its frame. The inputs must be in their slots. Messages name the element `index`.
    void run_lift(std::int64_t index);
    /// Runs a part that reads no tables.
    void run(Frame& frame, Value* out);
    /// Runs `part`, map or scan, for an element. Stores the program's output k in `out[places[k]]`.
    void run(Frame& frame, Value* out, const std::vector<std::size_t>& places, const char* part,
             std::int64_t element);
    [[noreturn]] void report(const Outcome& outcome, std::int64_t element, const char* part = "lift") const;

    const Bytecode& bytecode_;
    std::vector<TableView> tables_;
    Frame identity_, lift_, combine_, append_, finish_, empty_, map_, scan_;
    /// Slots of lift in working precision, whose values decide for a lift in wide precision. Empty if lift
    /// has no decision that rounding may change.
    std::vector<Slot<double>> deciding_;
};

/// Thrown if an element reads outside of a table.
class OutsideTable : public InputError {
public:
    /// Makes the message from `before`, the number of the reading element, and `behind`.
    OutsideTable(std::string before, std::int64_t element, std::string behind);

    [[nodiscard]] std::int64_t element() const { return element_; }
    /// Returns the same error for another element number, for folds that renumber the elements.
    [[nodiscard]] OutsideTable by(std::int64_t element) const { return {before_, element, behind_}; }

private:
    std::string before_, behind_;
    std::int64_t element_ = 0;
};

/// Makes the error of an `element` that reads past the end of a table. `part` is lift, map or scan.
[[nodiscard]] OutsideTable outside_table(const Bytecode& bytecode, const Outcome& outcome,
                                         std::int64_t table_length, std::int64_t element,
                                         std::string_view part = "lift");

extern template class Evaluator<double>;
extern template class Evaluator<long double>;

}  // namespace segfold
