#include "runtime/backends/thrust/flat_program.h"

#include <algorithm>
#include <limits>

#include "dsl/error.h"

namespace segfold {
namespace {

bool jumps(const Instruction& step)
{
    return step.opcode == Opcode::jump || step.opcode == Opcode::jump_unless;
}

/// Calls `visit` with every slot that an instruction may read. Opcodes with few operands ignore some of these
/// slots.
template <class Step, class Visit>
void visit_operands(Step& step, Visit visit)
{
    if (step.opcode == Opcode::jump)
        return;
    visit(step.a);
    if (step.opcode == Opcode::gather || step.opcode == Opcode::jump_unless)
        return;  // b is a table's number, or unused
    visit(step.b);
    visit(step.c);
}

/// Allocates and frees slots. take() returns the lowest free slot.
class SlotAllocator {
public:
    std::uint16_t take()
    {
        const auto free = std::ranges::find(taken_, false);
        const auto slot = static_cast<std::uint16_t>(free - taken_.begin());
        if (free == taken_.end())
            taken_.push_back(true);
        else
            *free = true;
        return slot;
    }
    void give_back(std::uint16_t slot) { taken_[slot] = false; }
    [[nodiscard]] int size() const { return static_cast<int>(taken_.size()); }

private:
    std::vector<bool> taken_;
};

/// Returns, for each slot, the index of the last instruction that reads it. It is -1 if no instruction reads
/// the slot, and the number of instructions if the slot is an output.
std::vector<int> last_uses(const Program& program)
{
    std::vector<int> last(program.num_slots, -1);
    const int num_instructions = static_cast<int>(program.code.size());
    for (int at = 0; at < num_instructions; ++at) {
        const auto& step = program.code[static_cast<std::size_t>(at)];
        if (jumps(step) && step.out <= at)
            throw InternalError("a program jumps back, so that a slot's last use is not known");
        visit_operands(step, [&](std::uint16_t slot) { last[slot] = at; });
    }
    for (const auto slot : program.outputs)
        last[slot] = num_instructions;
    return last;
}

}  // namespace

FlatProgram flatten(const Program& program)
{
    constexpr std::uint16_t kNone = std::numeric_limits<std::uint16_t>::max();
    const auto last = last_uses(program);
    std::vector<std::uint16_t> place(program.num_slots, kNone);
    SlotAllocator allocator;
    FlatProgram flat;
    for (std::uint16_t input = 0; input < program.num_inputs; ++input)
        place[input] = allocator.take();
    for (const auto& constant : program.constants) {
        PresetSlot preset{place[constant.slot] = allocator.take(), {}};
        Machine<double>::set_constant(preset.value, constant);
        flat.presets.push_back(preset);
    }
    // All jumps go forward. So a slot that no later instruction reads is free on every path.
    for (int at = 0; at < static_cast<int>(program.code.size()); ++at) {
        Instruction step = program.code[static_cast<std::size_t>(at)];
        const auto end_life = [&](std::uint16_t slot) {
            if (place[slot] != kNone && last[slot] == at)
                allocator.give_back(place[slot]);
        };
        visit_operands(step, end_life);
        visit_operands(step, [&](std::uint16_t& slot) { slot = place[slot] == kNone ? 0 : place[slot]; });
        if (!jumps(step)) {
            const auto slot = step.out;
            if (place[slot] == kNone)
                place[slot] = allocator.take();
            step.out = place[slot];
            if (last[slot] <= at)
                allocator.give_back(place[slot]);
        }
        flat.code.push_back(step);
    }
    for (const auto slot : program.outputs)
        flat.outputs.push_back(place[slot]);
    flat.num_slots = std::max(1, allocator.size());
    return flat;
}

}  // namespace segfold
