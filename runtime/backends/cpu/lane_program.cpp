#include "runtime/backends/cpu/lane_program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dsl/error.h"

namespace segfold::cpu {
namespace {

using Loop = void (*)(Lanes& out, const Lanes& a, const Lanes& b, const Lanes& c, int count);
using Scalar = Machine<double>;

constexpr std::size_t kNumTypes = static_cast<std::size_t>(Type::f64) + 1;
constexpr std::size_t kNumOpcodes = static_cast<std::size_t>(Opcode::jump_unless) + 1;

template <Type type>
Slot<double> read(const Lanes& lanes, int i)
{
    Slot<double> slot{};
    if constexpr (is_single(type))
        slot.single = lanes.single[i];
    else if constexpr (is_float(type))
        slot.real = lanes.real[i];
    else
        slot.bits = lanes.bits[i];
    return slot;
}

template <Type type>
void write(Lanes& lanes, int i, const Slot<double>& slot)
{
    if constexpr (is_single(type))
        lanes.single[i] = slot.single;
    else if constexpr (is_float(type))
        lanes.real[i] = slot.real;
    else
        lanes.bits[i] = slot.bits;
}

/// Runs the interpreter's function on each lane, with opcode and type as compile-time constants.
template <Opcode opcode, Type type>
void operate(Lanes& out, const Lanes& a, const Lanes& b, const Lanes& c, int count)
{
    for (int i = 0; i < count; ++i) {
        if constexpr (!is_float(type))
            out.bits[i] = run_integer(opcode, type, a.bits[i], b.bits[i]);
        else if constexpr (is_test(opcode) && is_single(type))
            out.bits[i] = run_test(opcode, a.single[i], b.single[i]);
        else if constexpr (is_test(opcode))
            out.bits[i] = run_test(opcode, a.real[i], b.real[i]);
        else if constexpr (is_single(type))
            out.single[i] = run_real(opcode, a.single[i], b.single[i], c.single[i]);
        else
            out.real[i] = run_real(opcode, a.real[i], b.real[i], c.real[i]);
    }
}

template <Type type>
void round_lanes(Lanes& out, const Lanes& /*a*/, const Lanes& /*b*/, const Lanes& /*c*/, int count)
{
    for (int i = 0; i < count; ++i)
        out.single[i] = round_single(type, out.single[i]);
}

template <Type from, Type to>
void convert_lanes(Lanes& out, const Lanes& a, const Lanes& /*b*/, const Lanes& /*c*/, int count)
{
    for (int i = 0; i < count; ++i) {
        Slot<double> slot{};
        Scalar::convert(slot, read<from>(a, i), from, to);
        write<to>(out, i, slot);
    }
}

template <Type type>
void select_lanes(Lanes& out, const Lanes& a, const Lanes& b, const Lanes& c, int count)
{
    for (int i = 0; i < count; ++i)
        write<type>(out, i, a.bits[i] ? read<type>(b, i) : read<type>(c, i));
}

/// The type in which lanes hold values of `type`. Lanes hold 16-bit floats as f32 and round them after each
/// instruction, so these types share loops.
constexpr Type held_as(Type type) { return is_single(type) ? Type::f32 : type; }

constexpr bool is_of_integers(Opcode opcode)
{
    return opcode <= Opcode::absolute || opcode == Opcode::count_ones || opcode == Opcode::leading_zeros;
}

constexpr bool is_of_floats(Opcode opcode)
{
    return (opcode >= Opcode::add && opcode <= Opcode::divide) ||
           (opcode >= Opcode::equal && opcode <= Opcode::negate) ||
           (opcode >= Opcode::minimum && opcode <= Opcode::copy_sign) || opcode == Opcode::is_nan ||
           opcode == Opcode::is_finite;
}

template <Opcode opcode, Type type>
constexpr Loop operation()
{
    constexpr bool is_known = is_float(type) ? is_of_floats(opcode) && held_as(type) == type
                                             : is_of_integers(opcode) && opcode != Opcode::copy;
    if constexpr (opcode == Opcode::select && held_as(type) == type)
        return select_lanes<type>;
    else if constexpr (is_known && opcode != Opcode::select)
        return operate<opcode, type>;
    else
        return nullptr;
}

/// The type in which an instruction reads an operand of `type`. Integers are read as i64 or u64.
constexpr Type read_as(Type type)
{
    return is_float(type) ? held_as(type) : is_signed_integer(type) ? Type::i64 : Type::u64;
}

template <Type from, Type to>
constexpr Loop conversion()
{
    if constexpr (read_as(from) == from && held_as(to) == to)
        return convert_lanes<from, to>;
    else
        return nullptr;
}

template <std::size_t opcode, std::size_t... types>
constexpr std::array<Loop, kNumTypes> operations_of(std::index_sequence<types...> /*types*/)
{
    return {operation<static_cast<Opcode>(opcode), static_cast<Type>(types)>()...};
}

template <std::size_t from, std::size_t... types>
constexpr std::array<Loop, kNumTypes> conversions_of(std::index_sequence<types...> /*types*/)
{
    return {conversion<static_cast<Type>(from), static_cast<Type>(types)>()...};
}

template <std::size_t... opcodes>
constexpr std::array<std::array<Loop, kNumTypes>, kNumOpcodes> all_operations(
    std::index_sequence<opcodes...> /*opcodes*/)
{
    return {operations_of<opcodes>(std::make_index_sequence<kNumTypes>())...};
}

template <std::size_t... types>
constexpr std::array<std::array<Loop, kNumTypes>, kNumTypes> all_conversions(
    std::index_sequence<types...> /*types*/)
{
    return {conversions_of<types>(std::make_index_sequence<kNumTypes>())...};
}

constexpr auto kOperations = all_operations(std::make_index_sequence<kNumOpcodes>());
constexpr auto kConversions = all_conversions(std::make_index_sequence<kNumTypes>());

constexpr std::size_t number(Type type) { return static_cast<std::size_t>(type); }

/// Calls `work` with `type` as a compile-time constant.
template <class Work, std::size_t... types>
void visit(Type type, const Work& work, std::index_sequence<types...> /*types*/)
{
    (void)((number(type) == types &&
            (work(std::integral_constant<Type, static_cast<Type>(types)>()), true)) ||
           ...);
}

template <class Work>
void visit(Type type, const Work& work)
{
    visit(type, work, std::make_index_sequence<kNumTypes>());
}

}  // namespace

void load_lanes(Type type, const void* array, std::int64_t first, int count, Lanes& lanes, int lane)
{
    visit(type, [&](auto constant) {
        for (int i = 0; i < count; ++i) {
            Slot<double> slot{};
            Scalar::load(slot, constant(), array, first + i);
            write<constant()>(lanes, lane + i, slot);
        }
    });
}

void store_lanes(Type type, const Lanes& lanes, std::span<const std::int64_t> elements, void* array)
{
    visit(type, [&](auto constant) {
        int lane = 0;
        for (const auto element : elements)
            Scalar::store(read<constant()>(lanes, lane++), constant(), array, element);
    });
}

LaneProgram::Step LaneProgram::step_of(const Instruction& instruction)
{
    const auto [opcode, type] = std::pair(instruction.opcode, instruction.type);
    if (opcode == Opcode::copy || opcode >= Opcode::gather)
        return {nullptr, nullptr};
    const bool converts = opcode == Opcode::convert;
    const Type result = converts ? instruction.target : type;
    const Loop loop = converts ? kConversions[number(read_as(type))][number(held_as(result))]
                               : kOperations[static_cast<std::size_t>(opcode)][number(held_as(type))];
    if (loop == nullptr)
        throw InternalError("an instruction that no loop is for: opcode " +
                            std::to_string(static_cast<int>(opcode)) + " of " + std::string(name(type)));
    const bool rounds = opcode != Opcode::select && (converts || !is_test(opcode));
    return {loop, rounds && result == Type::f16    ? round_lanes<Type::f16>
                  : rounds && result == Type::bf16 ? round_lanes<Type::bf16>
                                                   : nullptr};
}

LaneProgram::LaneProgram(const segfold::Program& program, std::vector<TableView> tables)
    : program_(program), tables_(std::move(tables)), slots_(program.num_slots)
{
    for (const auto& instruction : program.code)
        steps_.push_back(step_of(instruction));
    for (const auto& constant : program.constants)
        visit(constant.type, [&](auto type) {
            Slot<double> slot{};
            Scalar::set_constant(slot, constant);
            for (int i = 0; i < kBlockLanes; ++i)
                write<type()>(slots_[constant.slot], i, slot);
        });
}

bool LaneProgram::uses_input(std::size_t place) const
{
    const auto slot = static_cast<std::uint16_t>(place);
    return std::ranges::find(program_.outputs, slot) != program_.outputs.end() ||
           std::ranges::any_of(program_.code, [&](const Instruction& instruction) {
               return instruction.a == slot || instruction.b == slot || instruction.c == slot;
           });
}

bool LaneProgram::run(int count) { return run(0, program_.code.size(), nullptr, count); }

bool LaneProgram::gather(const Instruction& instruction, const Lanes* mask, int count)
{
    const auto& table = tables_[instruction.b];
    const auto& indices = slots_[instruction.a];
    bool is_inside = true;
    visit(instruction.target, [&](auto type) {
        for (int i = 0; i < count; ++i) {
            if (mask != nullptr && mask->bits[i] == 0)
                continue;
            // One comparison suffices, because a negative index becomes a large unsigned number.
            if (indices.bits[i] >= static_cast<std::uint64_t>(table.length)) {
                is_inside = false;
                continue;
            }
            Slot<double> slot{};
            Scalar::load(slot, type(), table.data, static_cast<std::int64_t>(indices.bits[i]));
            write<type()>(slots_[instruction.out], i, slot);
        }
    });
    return is_inside;
}

bool LaneProgram::run(std::size_t begin, std::size_t end, const Lanes* mask, int count)
{
    for (std::size_t at = begin; at < end; ++at) {
        const auto& instruction = program_.code[at];
        auto& out = slots_[instruction.out];
        const auto& a = slots_[instruction.a];
        if (const auto& step = steps_[at]; step.loop != nullptr) {
            step.loop(out, a, slots_[instruction.b], slots_[instruction.c], count);
            if (step.after != nullptr)
                step.after(out, a, a, a, count);
        } else if (instruction.opcode == Opcode::copy) {
            for (int i = 0; i < count; ++i)
                if (mask == nullptr || mask->bits[i] != 0)
                    copy_lane(instruction.type, a, i, out, i);
        } else if (instruction.opcode == Opcode::gather) {
            if (!gather(instruction, mask, count))
                return false;
        } else {
            // A conditional. Its first branch ends at `other` - 1 with a jump to `behind`. Its second branch
            // is `other` to `behind` - 1. Each lane runs only the branch that its condition selects.
            const std::size_t other = instruction.out;
            const std::size_t behind = program_.code[other - 1].out;
            Lanes sides[2];
            for (int i = 0; i < count; ++i) {
                const bool is_active = mask == nullptr || mask->bits[i] != 0;
                sides[0].bits[i] = is_active && a.bits[i] != 0;
                sides[1].bits[i] = is_active && a.bits[i] == 0;
            }
            if (!run(at + 1, other - 1, &sides[0], count) || !run(other, behind, &sides[1], count))
                return false;
            at = behind - 1;
        }
    }
    return true;
}

}  // namespace segfold::cpu
