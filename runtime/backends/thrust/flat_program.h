#pragma once
// Stores a block of an operator as arrays that Thrust's functors read, using as few slots as it can.
#include <cstdint>
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// A slot that holds a constant before the first instruction.
struct PresetSlot {
    std::uint16_t slot;
    Slot<double> value;
};

/// A Program in which values share a slot if they are never needed at the same time.
struct FlatProgram {
    std::vector<Instruction> code;
    std::vector<PresetSlot> presets;
    std::vector<std::uint16_t> outputs;  ///< the slot of each field that the block sets
    int num_slots = 0;
};

/// Renumbers a program's slots. A slot is free again after the last use of its value. Inputs keep their
/// places.
FlatProgram flatten(const Program& program);

}  // namespace segfold
