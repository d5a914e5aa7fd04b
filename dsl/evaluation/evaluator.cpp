#include "dsl/evaluation/evaluator.h"

#include <algorithm>
#include <utility>

#include "dsl/stopped.h"

namespace segfold {
namespace {

bool is_narrower(Type target, Type type)
{
    return is_float(type) && is_float(target) && target != type &&
           size_bytes_of_type(target) <= size_bytes_of_type(type);
}

/// True if rounding of a float operand may change the instruction's value by much, as in a comparison, or if
/// the instruction itself rounds on purpose.
bool decides(const Instruction& step)
{
    if (!is_float(step.type))
        return false;
    switch (step.opcode) {
        case Opcode::floor:
        case Opcode::ceiling:
        case Opcode::round: return true;
        case Opcode::convert: return !is_float(step.target) || is_narrower(step.target, step.type);
        default: return is_test(step.opcode);
    }
}

/// True if the instruction's value may be rounded in working precision.
bool rounds(const Instruction& step)
{
    switch (step.opcode) {
        case Opcode::convert:
            return is_float(step.target) && (!is_float(step.type) || is_narrower(step.target, step.type));
        case Opcode::copy:
        case Opcode::select:
        case Opcode::negate:
        case Opcode::minimum:
        case Opcode::maximum:
        case Opcode::absolute:
        case Opcode::copy_sign:
        case Opcode::gather: return false;
        default: return is_float(step.type) && !decides(step);
    }
}

/// Runs a program in both precisions, step by step. Working precision decides comparisons, and thus all
/// jumps, integers and truth values.
Outcome run_side_by_side(const Program& program, Slot<long double>* wide, Slot<double>* working,
                         const TableView* tables)
{
    const auto& code = program.code;
    for (std::size_t at = 0; at < code.size(); ++at) {
        const auto& step = code[at];
        if (step.opcode == Opcode::jump || step.opcode == Opcode::jump_unless) {
            if (step.opcode == Opcode::jump || !working[step.a].bits)
                at = step.out - std::size_t{1};
            continue;
        }
        if (const auto outcome = Machine<double>::run(&step, 1, working, tables); outcome.failed)
            return outcome;
        const auto type = step.opcode == Opcode::convert ? step.target : step.type;
        if (!decides(step))
            Machine<long double>::run(&step, 1, wide, tables);
        else if (is_float(type) && !is_test(step.opcode))
            wide[step.out].real = Machine<double>::get_real(working[step.out], type);
        else
            wide[step.out].bits = working[step.out].bits;
    }
    return {};
}

}  // namespace

template <class Real>
Evaluator<Real>::Evaluator(const Bytecode& bytecode, std::vector<TableView> tables)
    : bytecode_(bytecode),
      tables_(std::move(tables)),
      identity_(make_frame(bytecode.identity)),
      lift_(make_frame(bytecode.lift)),
      combine_(make_frame(bytecode.combine)),
      append_(make_frame(bytecode.append)),
      finish_(make_frame(bytecode.finish)),
      empty_(make_frame(bytecode.empty)),
      map_(make_frame(bytecode.map)),
      scan_(make_frame(bytecode.scan))
{
    const auto& code = bytecode.lift.code;
    if (!Machine<Real>::kWide || std::ranges::none_of(code, decides) || std::ranges::none_of(code, rounds))
        return;
    deciding_.resize(bytecode.lift.num_slots);
    for (const auto& constant : bytecode.lift.constants)
        Machine<double>::set_constant(deciding_[constant.slot], constant);
}

template <class Real>
auto Evaluator<Real>::make_frame(const Program& program) -> Frame
{
    Frame frame{&program, std::vector<Value>(program.num_slots)};
    for (const auto& constant : program.constants)
        Machine<Real>::set_constant(frame.slots[constant.slot], constant);
    return frame;
}

template <class Real>
void Evaluator<Real>::run(Frame& frame, Value* out)
{
    const auto& program = *frame.program;
    Machine<Real>::run(program.code.data(), static_cast<int>(program.code.size()), frame.slots.data(),
                       tables_.data());
    for (std::size_t i = 0; i < program.outputs.size(); ++i)
        out[i] = frame.slots[program.outputs[i]];
}

template <class Real>
void Evaluator<Real>::run(Frame& frame, Value* out, const std::vector<std::size_t>& places, const char* part,
                          std::int64_t element)
{
    const auto& program = *frame.program;
    const auto outcome = Machine<Real>::run(program.code.data(), static_cast<int>(program.code.size()),
                                            frame.slots.data(), tables_.data());
    if (outcome.failed)
        report(outcome, element, part);
    for (std::size_t i = 0; i < places.size(); ++i)
        out[places[i]] = frame.slots[program.outputs[i]];
}

template <class Real>
void Evaluator<Real>::run_lift(std::int64_t index)
{
    const auto& program = bytecode_.lift;
    Outcome outcome;
    if constexpr (Machine<Real>::kWide) {
        if (!deciding_.empty()) {
            const auto& columns = bytecode_.columns;
            for (std::size_t i = 0; i < program.num_inputs; ++i)
                if (i < columns.size() && is_float(columns[i]))
                    Machine<double>::set_real(deciding_[i], columns[i],
                                              static_cast<double>(lift_.slots[i].real));
                else
                    deciding_[i].bits = lift_.slots[i].bits;
            outcome = run_side_by_side(program, lift_.slots.data(), deciding_.data(), tables_.data());
            if (outcome.failed)
                report(outcome, index);
            return;
        }
    }
    outcome = Machine<Real>::run(program.code.data(), static_cast<int>(program.code.size()),
                                 lift_.slots.data(), tables_.data());
    if (outcome.failed)
        report(outcome, index);
}

template <class Real>
void Evaluator<Real>::report(const Outcome& outcome, std::int64_t element, const char* part) const
{
    throw outside_table(bytecode_, outcome, tables_[outcome.table].length, element, part);
}

template <class Real>
void Evaluator<Real>::identity(Value* state)
{
    if (!bytecode_.has_identity)
        throw InternalError("identity() of an operator that has none");
    run(identity_, state);
}

template <class Real>
void Evaluator<Real>::lift(std::span<const void* const> columns, std::int64_t index, std::int64_t position,
                           std::int64_t segment, Value* state)
{
    for (std::size_t i = 0; i < columns.size(); ++i)
        Machine<Real>::load(lift_.slots[i], bytecode_.columns[i], columns[i], index);
    lift_.slots[columns.size()].bits = static_cast<std::uint64_t>(index);
    lift_.slots[columns.size() + 1].bits = static_cast<std::uint64_t>(position);
    lift_.slots[columns.size() + 2].bits = static_cast<std::uint64_t>(segment);
    run_lift(index);
    for (std::size_t i = 0; i < bytecode_.lift.outputs.size(); ++i)
        state[i] = lift_.slots[bytecode_.lift.outputs[i]];
}

template <class Real>
void Evaluator<Real>::lift(const Value* values, std::int64_t index, std::int64_t position,
                           std::int64_t segment, Value* state)
{
    const std::size_t n = bytecode_.columns.size();
    std::copy_n(values, n, lift_.slots.begin());
    lift_.slots[n].bits = static_cast<std::uint64_t>(index);
    lift_.slots[n + 1].bits = static_cast<std::uint64_t>(position);
    lift_.slots[n + 2].bits = static_cast<std::uint64_t>(segment);
    run_lift(index);
    for (std::size_t i = 0; i < bytecode_.lift.outputs.size(); ++i)
        state[i] = lift_.slots[bytecode_.lift.outputs[i]];
}

template <class Real>
void Evaluator<Real>::combine(const Value* earlier, const Value* later, Value* out)
{
    const std::size_t n = bytecode_.state.size();
    std::copy_n(earlier, n, combine_.slots.begin());
    std::copy_n(later, n, combine_.slots.begin() + static_cast<std::ptrdiff_t>(n));
    run(combine_, out);
}

template <class Real>
void Evaluator<Real>::append(const Value* state, const Value* element, Value* out)
{
    if (!bytecode_.has_append)
        throw InternalError("append() of an operator that has none");
    const std::size_t n = bytecode_.state.size();
    std::copy_n(state, n, append_.slots.begin());
    std::copy_n(element, bytecode_.columns.size() + 3,
                append_.slots.begin() + static_cast<std::ptrdiff_t>(n));
    run(append_, out);
}

template <class Real>
void Evaluator<Real>::finish(const Value* state, std::int64_t segment, std::int64_t length, Value* result)
{
    const std::size_t n = bytecode_.state.size();
    std::copy_n(state, n, finish_.slots.begin());
    finish_.slots[n].bits = static_cast<std::uint64_t>(segment);
    finish_.slots[n + 1].bits = static_cast<std::uint64_t>(length);
    run(finish_, result);
}

template <class Real>
void Evaluator<Real>::empty(std::int64_t segment, Value* result)
{
    if (!bytecode_.has_empty)
        throw InternalError("empty() of an operator whose empty segments have no result");
    empty_.slots[0].bits = static_cast<std::uint64_t>(segment);
    empty_.slots[1].bits = 0;
    run(empty_, result);
}

template <class Real>
void Evaluator<Real>::map(std::span<const void* const> columns, std::int64_t index, std::int64_t position,
                          std::int64_t segment, std::int64_t length, const Value* result, Value* out)
{
    if (!bytecode_.has_map)
        throw InternalError("map() of an operator that has none");
    std::size_t at = 0;
    for (; at < columns.size(); ++at)
        Machine<Real>::load(map_.slots[at], bytecode_.columns[at], columns[at], index);
    for (std::size_t r = 0; r < result_fields(); ++r)
        map_.slots[at++] = result[r];
    for (const auto place : {index, position, segment, length})
        map_.slots[at++].bits = static_cast<std::uint64_t>(place);
    run(map_, out, bytecode_.mapped, "map", index);
}

template <class Real>
void Evaluator<Real>::scan(std::span<const void* const> columns, std::int64_t index, std::int64_t position,
                           std::int64_t segment, const Value* before, const Value* through, Value* out)
{
    if (!bytecode_.has_scan)
        throw InternalError("scan() of an operator that has none");
    const std::size_t n = state_fields();
    std::copy_n(before, n, scan_.slots.begin());
    std::copy_n(through, n, scan_.slots.begin() + static_cast<std::ptrdiff_t>(n));
    std::size_t at = 2 * n;
    for (std::size_t c = 0; c < columns.size(); ++c)
        Machine<Real>::load(scan_.slots[at++], bytecode_.columns[c], columns[c], index);
    for (const auto place : {index, position, segment})
        scan_.slots[at++].bits = static_cast<std::uint64_t>(place);
    run(scan_, out, bytecode_.scanned, "scan", index);
}

template <class Real>
void Evaluator<Real>::fold(std::span<const void* const> columns, std::int64_t begin, std::int64_t end,
                           std::int64_t position, std::int64_t segment, Value* state)
{
    lift(columns, begin, position, segment, state);
    const std::size_t num_columns = columns.size();
    const std::size_t n = state_fields();
    Value* const lifted = lift_.slots.data();
    Value* const earlier = combine_.slots.data();
    Value* const later = earlier + n;
    const auto& combine_code = bytecode_.combine.code;
    const std::uint16_t* const lift_out = bytecode_.lift.outputs.data();
    const std::uint16_t* const combine_out = bytecode_.combine.outputs.data();
    // The running state stays in combine's frame, as the earlier operand. `state` only receives new values,
    // which are then copied to the frame.
    std::copy_n(state, n, earlier);
    for (std::int64_t i = begin + 1; i < end; ++i) {
        if (i % kElementsBetweenLooks == 0)
            throw_if_stopped();
        for (std::size_t c = 0; c < num_columns; ++c)
            Machine<Real>::load(lifted[c], bytecode_.columns[c], columns[c], i);
        lifted[num_columns].bits = static_cast<std::uint64_t>(i);
        lifted[num_columns + 1].bits = static_cast<std::uint64_t>(position + (i - begin));
        run_lift(i);
        for (std::size_t f = 0; f < n; ++f)
            later[f] = lifted[lift_out[f]];
        if (const auto outcome = Machine<Real>::run(
                combine_code.data(), static_cast<int>(combine_code.size()), earlier, tables_.data());
            outcome.failed)
            report(outcome, i);
        for (std::size_t f = 0; f < n; ++f)
            state[f] = earlier[combine_out[f]];
        std::copy_n(state, n, earlier);
    }
}

OutsideTable outside_table(const Bytecode& bytecode, const Outcome& outcome, std::int64_t length,
                           std::int64_t element, std::string_view part)
{
    const auto& table = bytecode.table_names[outcome.table];
    const auto index = outcome.index_type == Type::u64
                           ? std::to_string(static_cast<std::uint64_t>(outcome.index))
                           : std::to_string(outcome.index);
    const std::string entries = length == 0   ? "no entries"
                                : length == 1 ? "1 entry"
                                              : std::to_string(length) + " entries";
    return {"table '" + table + "' has " + entries + "; " +
                (part == "lift" ? "element " : std::string(part) + " of element "),
            element,
            " reads " + table + "[" + index + "], and " +
                (length == 0   ? "an empty table cannot be read"
                 : length == 1 ? "its only index is 0"
                               : "indices run from 0 to " + std::to_string(length - 1))};
}

OutsideTable::OutsideTable(std::string before, std::int64_t element, std::string behind)
    : InputError(before + std::to_string(element) + behind),
      before_(std::move(before)),
      behind_(std::move(behind)),
      element_(element)
{}

template class Evaluator<double>;
template class Evaluator<long double>;

}  // namespace segfold
