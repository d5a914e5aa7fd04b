#pragma once
// Byte code of one block of an operator, as arrays for Thrust's functors. It uses as few value slots as
// possible.
#include <cstdint>
#include <vector>

#include "dsl/evaluation/interpreter.h"

namespace segfold {

/// A slot that has a constant before the first instruction runs.
struct PresetSlot {
    std::uint16_t slot;
    Slot<double> value;
};

/// A Program whose values share a slot if they are not needed at the same time.
struct FlatProgram {
    std::vector<Instruction> code;
    std::vector<PresetSlot> presets;
    std::vector<std::uint16_t> outputs;  ///< slot of each field that the block sets
    int num_slots = 0;
};

/// Renumbers a program's slots. A slot is reused after the last use of its value. Inputs keep their slots.
FlatProgram flatten(const Program& program);

}  // namespace segfold
