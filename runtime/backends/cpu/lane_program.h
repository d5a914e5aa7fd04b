#pragma once
// Runs byte code on many values at a time. Each instruction is a loop over lanes.
#include <cstdint>
#include <span>
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold::cpu {

/// Number of values on which an instruction works at a time.
inline constexpr int kBlockLanes = 256;

/// One value per lane, in the representation of Slot<double>.
union alignas(64) Lanes {
    std::uint64_t bits[kBlockLanes];
    float single[kBlockLanes];
    double real[kBlockLanes];
};

/// True if lanes hold values of `type` in `single`. Values of f64 are in `real`, and values of other types in
/// `bits`.
constexpr bool is_single(Type type) { return is_float(type) && type != Type::f64; }

/// Copies lane `from` of `source` to lane `to` of `target`. `type` is the type of the value.
inline void copy_lane(Type type, const Lanes& source, int from, Lanes& target, int to)
{
    if (is_single(type))
        target.single[to] = source.single[from];
    else
        target.bits[to] = source.bits[from];
}

/// Loads elements `first` .. `first + count - 1` of an array into the lanes from `lane` on.
void load_lanes(Type type, const void* array, std::int64_t first, int count, Lanes& lanes, int lane);

/// Stores lane i in element elements[i] of the array.
void store_lanes(Type type, const Lanes& lanes, std::span<const std::int64_t> elements, void* array);

/// Byte code with kBlockLanes lanes for each of its values. Only one thread at a time may use it.
class LaneProgram {
public:
    /// The program and the tables' memory must outlive this object.
    explicit LaneProgram(const segfold::Program& program, std::vector<TableView> tables = {});

    [[nodiscard]] Lanes& input(std::size_t place) { return slots_[place]; }
    [[nodiscard]] const Lanes& output(std::size_t field) const { return slots_[program_.outputs[field]]; }
    /// True if the program reads input `place`, counted from 0.
    [[nodiscard]] bool uses_input(std::size_t place) const;

    /// Computes the outputs of the first `count` lanes. Returns false if a lane reads past a table's end.
    [[nodiscard]] bool run(int count);

private:
    using Loop = void (*)(Lanes& out, const Lanes& a, const Lanes& b, const Lanes& c, int count);

    struct Step {
        Loop loop;   ///< null for copies, gathers and jumps, which some lanes may skip
        Loop after;  ///< rounds values to a 16-bit format; null for other types
    };

    static Step step_of(const Instruction& instruction);
    /// Runs instructions `begin` .. `end` - 1 in lanes with nonzero `mask`; in all lanes if `mask` is null.
    [[nodiscard]] bool run(std::size_t begin, std::size_t end, const Lanes* mask, int count);
    [[nodiscard]] bool gather(const Instruction& instruction, const Lanes* mask, int count);

    const segfold::Program& program_;
    std::vector<TableView> tables_;
    std::vector<Step> steps_;
    std::vector<Lanes> slots_;
};

}  // namespace segfold::cpu
