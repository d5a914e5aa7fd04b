#include "runtime/judge/disturbed.h"

#include <algorithm>
#include <limits>

#include "runtime/judge/fold_order.h"

namespace segfold {
namespace {

using Wide = Machine<long double>;

/// Returns the largest relative rounding error of an instruction in working precision; 0 if the instruction
/// is exact.
long double movement_of(const Instruction& step)
{
    // CUDA's functions err by up to 2 ulp, which is 4 unit roundoffs.
    constexpr long double kFunctionError = 4;
    switch (step.opcode) {
        case Opcode::add:
        case Opcode::subtract:
        case Opcode::multiply:
        case Opcode::divide:
        case Opcode::square_root:
        case Opcode::multiply_add: return is_float(step.type) ? unit_roundoff(step.type) : 0;
        case Opcode::convert: return is_float(step.target) ? unit_roundoff(step.target) : 0;
        case Opcode::reciprocal_root:
        case Opcode::exponential:
        case Opcode::exponential2:
        case Opcode::exponential_m1:
        case Opcode::logarithm:
        case Opcode::logarithm2:
        case Opcode::logarithm_1p:
        case Opcode::power:
        case Opcode::sine:
        case Opcode::cosine:
        case Opcode::hyperbolic_tangent: return kFunctionError * unit_roundoff(step.type);
        default: return 0;
    }
}

/// Stores NaN, or 0 if `type` is not floating-point, instead of a value that cannot be read.
void set_unknown(WideValue& slot, Type type)
{
    if (is_float(type))
        slot.real = std::numeric_limits<long double>::quiet_NaN();
    else
        slot.bits = 0;
}

/// True if the value is 0, or if `type` could represent it with a significand that is four bits shorter.
bool fits_with_room(Type type, long double value)
{
    constexpr int kRoom = 4;
    constexpr int kWideDigits = std::numeric_limits<long double>::digits;
    const int digits = type == Type::f16 ? 11 : type == Type::bf16 ? 8 : type == Type::f32 ? 24 : 53;
    // Adding and then subtracting a larger number rounds off the value's low bits (Dekker 1971).
    const auto push = static_cast<long double>(std::uint64_t{1} << (kWideDigits - digits + kRoom));
    const long double pushed = value * (push + 1);
    return pushed - (pushed - value) == value;
}

Type type_of_value(const Instruction& step)
{
    return step.opcode == Opcode::convert ? step.target : step.type;
}

}  // namespace

long double round_to(Type type, long double value)
{
    switch (type) {
        case Type::f16: return f16_to_f32(f32_to_f16(static_cast<float>(value)));
        case Type::bf16: return bf16_to_f32(f32_to_bf16(static_cast<float>(value)));
        case Type::f32: return static_cast<float>(value);
        case Type::f64: return static_cast<double>(value);
        default: return value;
    }
}

long double unit_roundoff(Type type)
{
    return type == Type::f16    ? 0x1p-11L
           : type == Type::bf16 ? 0x1p-8L
           : type == Type::f32  ? 0x1p-24L
                                : 0x1p-53L;
}

DisturbedEvaluator::DisturbedEvaluator(const Bytecode& bytecode, const OperatorInputs& inputs,
                                       std::uint64_t seed)
    : bytecode_(&bytecode),
      inputs_(&inputs),
      seed_(mix_bits(seed)),
      lift_(make_frame(bytecode.lift)),
      combine_(make_frame(bytecode.combine)),
      finish_(make_frame(bytecode.finish)),
      empty_(make_frame(bytecode.empty)),
      map_(make_frame(bytecode.map)),
      scan_(make_frame(bytecode.scan))
{}

DisturbedEvaluator::Frame DisturbedEvaluator::make_frame(const Program& program)
{
    Frame frame{&program, std::vector<Value>(program.num_slots), {}};
    for (const auto& constant : program.constants)
        Wide::set_constant(frame.slots[constant.slot], constant);
    for (const auto& step : program.code)
        frame.movements.push_back(movement_of(step));
    return frame;
}

void DisturbedEvaluator::run(Frame& frame, std::uint64_t lot, Value* out)
{
    const auto& code = frame.program->code;
    Value* const slots = frame.slots.data();
    for (std::size_t at = 0; at < code.size(); ++at) {
        const auto& step = code[at];
        if (step.opcode == Opcode::jump || (step.opcode == Opcode::jump_unless && !slots[step.a].bits)) {
            at = step.out - std::size_t{1};
            continue;
        }
        if (step.opcode == Opcode::jump_unless)
            continue;
        // Only a disturbed index can lie outside of a table. The reference has already read at all
        // undisturbed indices without an error.
        if (Wide::run(&step, 1, slots, inputs_->tables.data()).failed)
            set_unknown(slots[step.out], step.target);
        if (frame.movements[at] == 0)
            continue;
        auto& value = slots[step.out].real;
        if (fits_with_room(type_of_value(step), value))
            continue;
        // The random error is half a unit to one unit roundoff, up or down. Errors of one fixed size would
        // cancel too often in short folds.
        const std::uint64_t draw = mix_bits(lot + at);
        const long double size = 0.5L + 0.5L * static_cast<long double>(draw >> 11) * 0x1p-53L;
        const long double movement = frame.movements[at] * size;
        value *= (draw & 1) != 0 ? 1 + movement : 1 - movement;
    }
    for (std::size_t i = 0; i < frame.program->outputs.size(); ++i)
        out[i] = slots[frame.program->outputs[i]];
}

void DisturbedEvaluator::run(Frame& frame, std::uint64_t lot, const std::vector<std::size_t>& places,
                             Value* out)
{
    values_.resize(places.size());
    run(frame, lot, values_.data());
    for (std::size_t i = 0; i < places.size(); ++i)
        out[places[i]] = values_[i];
}

void DisturbedEvaluator::lift(std::int64_t index, std::int64_t position, std::int64_t segment, Value* state)
{
    const std::size_t n = inputs_->columns.size();
    for (std::size_t i = 0; i < n; ++i)
        Wide::load(lift_.slots[i], bytecode_->columns[i], inputs_->columns[i], index);
    lift_.slots[n].bits = static_cast<std::uint64_t>(index);
    lift_.slots[n + 1].bits = static_cast<std::uint64_t>(position);
    lift_.slots[n + 2].bits = static_cast<std::uint64_t>(segment);
    run(lift_, mix_bits(seed_ ^ (2 * static_cast<std::uint64_t>(index))), state);
}

void DisturbedEvaluator::combine(const Value* earlier, const Value* later, std::int64_t node, Value* out)
{
    const std::size_t n = state_fields();
    std::copy_n(earlier, n, combine_.slots.begin());
    std::copy_n(later, n, combine_.slots.begin() + static_cast<std::ptrdiff_t>(n));
    run(combine_, mix_bits(seed_ ^ (2 * static_cast<std::uint64_t>(node) + 1)), out);
}

void DisturbedEvaluator::finish(const Value* state, std::int64_t segment, std::int64_t length, Value* result)
{
    const std::size_t n = state_fields();
    std::copy_n(state, n, finish_.slots.begin());
    finish_.slots[n].bits = static_cast<std::uint64_t>(segment);
    finish_.slots[n + 1].bits = static_cast<std::uint64_t>(length);
    run(finish_, mix_bits(~seed_ ^ static_cast<std::uint64_t>(segment)), result);
}

void DisturbedEvaluator::map(std::int64_t index, std::int64_t position, std::int64_t segment,
                             std::int64_t length, const Value* result, Value* out)
{
    std::size_t at = 0;
    for (; at < inputs_->columns.size(); ++at)
        Wide::load(map_.slots[at], bytecode_->columns[at], inputs_->columns[at], index);
    for (std::size_t r = 0; r < bytecode_->results.size(); ++r)
        map_.slots[at++] = result[r];
    for (const auto place : {index, position, segment, length})
        map_.slots[at++].bits = static_cast<std::uint64_t>(place);
    run(map_, mix_bits(seed_ + 3 * static_cast<std::uint64_t>(index)), bytecode_->mapped, out);
}

void DisturbedEvaluator::scan(std::int64_t index, std::int64_t position, std::int64_t segment,
                              const Value* before, const Value* through, Value* out)
{
    const std::size_t n = state_fields();
    std::copy_n(before, n, scan_.slots.begin());
    std::copy_n(through, n, scan_.slots.begin() + static_cast<std::ptrdiff_t>(n));
    std::size_t at = 2 * n;
    for (std::size_t c = 0; c < inputs_->columns.size(); ++c)
        Wide::load(scan_.slots[at++], bytecode_->columns[c], inputs_->columns[c], index);
    for (const auto place : {index, position, segment})
        scan_.slots[at++].bits = static_cast<std::uint64_t>(place);
    run(scan_, mix_bits(seed_ + 5 * static_cast<std::uint64_t>(index)), bytecode_->scanned, out);
}

void DisturbedEvaluator::empty(std::int64_t segment, Value* result)
{
    empty_.slots[0].bits = static_cast<std::uint64_t>(segment);
    empty_.slots[1].bits = 0;
    run(empty_, mix_bits(~seed_ ^ static_cast<std::uint64_t>(segment)), result);
}

}  // namespace segfold
