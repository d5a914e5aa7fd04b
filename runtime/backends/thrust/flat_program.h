#pragma once
// A block of an operator as the arrays that Thrust's functors read, in as few slots as it needs.
#include <cstdint>
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// A slot that holds a constant before the first instruction.
struct PresetSlot {
    std::uint16_t slot;
    Slot<double> value;
};

/// A Program in which values that are never needed at the same time share a slot.
struct FlatProgram {
    std::vector<Instruction> code;
    std::vector<PresetSlot> presets;
    std::vector<std::uint16_t> outputs;  ///< the slot of each field that the block sets
    int num_slots = 0;
};

/// Renumbers a program's slots: each is free again after the last use of its value. Inputs keep their places.
FlatProgram flatten(const Program& program);

}  // namespace segfold
