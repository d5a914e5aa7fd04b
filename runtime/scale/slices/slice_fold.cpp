#include "runtime/scale/slices/slice_fold.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/judge/reference.h"
#include "runtime/session/choice/choice.h"

namespace segfold {
namespace {

Array one_index(std::int64_t value)
{
    return Array::of<std::int64_t>(Type::i64, std::span<const std::int64_t>(&value, 1));
}

/// Adds what a part's operator reads beside the operator's own arrays.
void add_bases(Workload& workload, const PartOperator& part, std::int64_t first_element,
               const std::vector<std::int64_t>& segments, const std::vector<std::int64_t>& positions)
{
    for (const auto base : part.bases)
        workload.arrays.push_back(
            base == BaseTable::index
                ? one_index(first_element)
                : Array::of<std::int64_t>(Type::i64, base == BaseTable::segment ? segments : positions));
}

/// The operator's arrays, columns from `begin` on.
std::vector<Array> columns_of(const Operator& op, const Slice& slice, std::int64_t begin, std::int64_t count)
{
    std::vector<Array> arrays;
    for (std::size_t i = 0; i < slice.arrays.size(); ++i) {
        const auto& array = slice.arrays[i];
        arrays.push_back(op.parameters[i].table ? part_of(array, 0, static_cast<std::int64_t>(array.length()))
                                                : part_of(array, begin, count));
    }
    return arrays;
}

/// The state that segment `segment` of results has.
void load_state(const Results& results, std::int64_t segment, Slot<double>* state)
{
    for (std::size_t f = 0; f < results.size(); ++f)
        Machine<double>::load(state[f], results[f].array.type(), results[f].array.data(), segment);
}

Array indices_of(Type type, const std::vector<std::int64_t>& values)
{
    if (type == Type::i64)
        return Array::of<std::int64_t>(type, values);
    const std::vector<std::int32_t> narrow(values.begin(), values.end());
    return Array::of<std::int32_t>(type, narrow);
}

/// The same segments, of which the arrays are borrowed.
Segments lent(const Segments& segments)
{
    const auto borrow = [](const Array& array) {
        return part_of(array, 0, static_cast<std::int64_t>(array.length()));
    };
    Segments other;
    other.form = segments.form;
    other.num_elements = segments.num_elements;
    other.num_segments = segments.num_segments;
    other.uniform_length = segments.uniform_length;
    other.offsets = borrow(segments.offsets);
    other.begins = borrow(segments.begins);
    other.ends = borrow(segments.ends);
    other.flags = borrow(segments.flags);
    other.item_keys = borrow(segments.item_keys);
    if (segments.keys)
        other.keys = borrow(*segments.keys);
    other.has_wide_indices = segments.has_wide_indices;
    return other;
}

Segments ranges_of(const std::vector<std::int64_t>& begins, const std::vector<std::int64_t>& ends,
                   std::int64_t num_elements, bool has_wide_indices)
{
    Segments segments;
    segments.form = SegmentForm::ranges;
    segments.num_elements = num_elements;
    segments.num_segments = std::ssize(begins);
    segments.has_wide_indices = has_wide_indices;
    segments.begins = indices_of(segments.index_type(), begins);
    segments.ends = indices_of(segments.index_type(), ends);
    return segments;
}

}  // namespace

Border border_without_states(const std::optional<Piece>& head, const std::optional<Piece>& tail,
                             bool has_inner, std::size_t state_fields, JoinOrder order)
{
    Border border;
    border.head = StateRun(state_fields, order);
    border.tail = StateRun(state_fields, order);
    border.has_inner = has_inner;
    if (head) {
        border.has_head = true;
        border.head_segment = head->segment;
        border.head_items = head->length();
    }
    if (tail) {
        border.has_tail = true;
        border.tail_goes_on = tail->position > 0;
        border.tail_items = tail->length();
    }
    return border;
}

SliceFolder::SliceFolder(const SliceProblem& problem, SliceDevice device)
    : problem_(problem),
      device_(std::move(device)),
      inner_(inner_operator(problem.op)),
      piece_(piece_operator(problem.op)),
      bytecode_(compile_bytecode(problem.op))
{}

const PlanChoice* SliceFolder::plan() const { return plans_.empty() ? nullptr : &plans_.begin()->second; }

std::vector<const PlanChoice*> SliceFolder::plans_for(SegmentForm form, bool has_wide_indices, bool has_inner,
                                                      bool has_pieces)
{
    std::vector<const PlanChoice*> plans;
    if (!device_.runs_stages)
        return plans;
    const bool is_in_blocks = problem_.order == JoinOrder::blocks;
    Segments segments;
    segments.has_wide_indices = has_wide_indices;
    segments.form = is_in_blocks ? SegmentForm::ranges : form;
    if (has_inner)
        plans.push_back(&plan_for(segments, inner_));
    segments.form = is_in_blocks ? SegmentForm::ranges : SegmentForm::whole;
    if (has_pieces)
        plans.push_back(&plan_for(segments, piece_));
    return plans;
}

const PlanChoice& SliceFolder::plan_for(const Segments& segments, const PartOperator& part)
{
    const auto key = fmt::format("{} {} {}", &part == &inner_ ? "inner" : "piece",
                                 static_cast<int>(segments.form), segments.index_bits());
    const auto found = plans_.find(key);
    if (found != plans_.end())
        return found->second;
    auto problem = make_problem(part.op, segments.form, segments.index_bits(), problem_.laws);
    if (segments.form == SegmentForm::keys)
        problem.key_bytes = static_cast<int>(size_bytes(segments.item_keys.type()));
    problem.checked_tables = problem_.checked_tables;
    problem.target = device_.target;
    // Only a slice is known here, and other slices run by the same plan.
    const auto shape =
        segments.form == SegmentForm::whole ? Shape{problem_.typical.num_elements, 1} : problem_.typical;
    return plans_.emplace(key, problem_.choose(problem, shape)).first->second;
}

void SliceFolder::add_run(PreparedSlice& prepared, Workload&& workload, const PartOperator& part)
{
    const auto* plan = device_.runs_stages ? &plan_for(workload.segments, part) : nullptr;
    prepared.runs.push_back({&part, std::move(workload), plan});
}

void SliceFolder::add_inner(PreparedSlice& prepared)
{
    const auto& slice = *prepared.slice;
    const auto& segments = slice.inner;
    Workload workload{inner_.op, {}, {}};
    const bool is_ranges = segments.form == SegmentForm::ranges;
    const auto begin = is_ranges ? 0 : slice.inner_begin;
    const auto count = is_ranges ? slice.num_elements : segments.num_elements;
    workload.arrays = columns_of(problem_.op, slice, begin, count);
    add_bases(workload, inner_, slice.first_element + begin, {slice.first_inner}, {});
    if (problem_.order == JoinOrder::blocks && device_.runs_stages) {
        // The order within a segment follows from its length. One that is longer than a block is folded by
        // blocks later; here it is one element long.
        std::vector<std::int64_t> begins, ends;
        for (std::int64_t s = 0; s < segments.num_segments; ++s) {
            begins.push_back(segments.begin(s));
            ends.push_back(segments.length(s) > kJoinBlock ? segments.begin(s) + 1 : segments.end(s));
        }
        workload.segments = ranges_of(begins, ends, count, segments.has_wide_indices);
    } else {
        workload.segments = lent(segments);
    }
    add_run(prepared, std::move(workload), inner_);
}

void SliceFolder::add_piece(PreparedSlice& prepared, const Piece& piece)
{
    const auto& slice = *prepared.slice;
    Workload workload{piece_.op, {}, {}};
    workload.arrays = columns_of(problem_.op, slice, piece.begin, piece.length());
    add_bases(workload, piece_, slice.first_element + piece.begin, {piece.segment}, {piece.position});
    workload.segments = whole_segments(piece.length());
    workload.segments.has_wide_indices |= slice.inner.has_wide_indices;
    add_run(prepared, std::move(workload), piece_);
}

void SliceFolder::add_blocks(PreparedSlice& prepared)
{
    const auto& slice = *prepared.slice;
    std::vector<std::int64_t> begins, ends;
    const auto add = [&](const Piece& piece) {
        for (auto at = piece.begin; at < piece.end; at += kJoinBlock) {
            begins.push_back(at);
            ends.push_back(std::min(at + kJoinBlock, piece.end));
            prepared.segments.push_back(piece.segment);
            prepared.positions.push_back(piece.position + at - piece.begin);
            prepared.lengths.push_back(ends.back() - at);
        }
    };
    if (slice.head)
        add(*slice.head);
    if (slice.tail)
        add(*slice.tail);
    // Segments inside that are longer than a block; their places are counted from the inner segments' begin.
    const auto offset = slice.inner.form == SegmentForm::ranges ? 0 : slice.inner_begin;
    for (std::int64_t s = 0; s < slice.inner.num_segments; ++s)
        if (slice.inner.length(s) > kJoinBlock)
            add({slice.first_inner + s, offset + slice.inner.begin(s), offset + slice.inner.end(s), 0});
    if (begins.empty())
        return;
    Workload workload{piece_.op, {}, {}};
    workload.arrays = columns_of(problem_.op, slice, 0, slice.num_elements);
    add_bases(workload, piece_, slice.first_element, prepared.segments, prepared.positions);
    workload.segments = ranges_of(begins, ends, slice.num_elements, slice.inner.has_wide_indices);
    add_run(prepared, std::move(workload), piece_);
}

void SliceFolder::number_empties(const Slice& slice, Results& results)
{
    Evaluator<double> evaluator(bytecode_);
    std::vector<Slot<double>> result(evaluator.result_fields());
    for (std::int64_t s = 0; s < slice.inner.num_segments; ++s)
        if (slice.inner.length(s) == 0) {
            evaluator.empty(slice.first_inner + s, result.data());
            for (std::size_t f = 0; f < results.size(); ++f)
                Machine<double>::store(result[f], results[f].array.type(), results[f].array.data(), s);
        }
}

void SliceFolder::join_blocks(const PreparedSlice& prepared, const Results& states, SliceResults& into)
{
    const auto& slice = *prepared.slice;
    const auto& segments = prepared.segments;
    Evaluator<double> evaluator(bytecode_);
    std::vector<Slot<double>> state(evaluator.state_fields());
    std::vector<Slot<double>> result(evaluator.result_fields());
    for (std::size_t i = 0; i < segments.size();) {
        const auto segment = segments[i];
        const bool is_head = slice.head && slice.head->segment == segment;
        const bool is_tail = slice.tail && slice.tail->segment == segment;
        StateRun own(evaluator.state_fields(), problem_.order);
        auto& run_into = is_head ? into.border.head : is_tail ? into.border.tail : own;
        std::int64_t length = 0;
        for (; i < segments.size() && segments[i] == segment; ++i) {
            load_state(states, static_cast<std::int64_t>(i), state.data());
            run_into.append(evaluator, prepared.positions[i] / kJoinBlock, state.data());
            length += prepared.lengths[i];
        }
        if (is_head || is_tail)
            continue;
        own.total(evaluator, state.data());
        evaluator.finish(state.data(), segment, length, result.data());
        for (std::size_t f = 0; f < into.inner.size(); ++f)
            Machine<double>::store(result[f], into.inner[f].array.type(), into.inner[f].array.data(),
                                   segment - slice.first_inner);
    }
}

PreparedSlice SliceFolder::prepare(const Slice& slice)
{
    PreparedSlice prepared{&slice};
    prepared.has_inner = slice.inner.num_segments > 0;
    if (prepared.has_inner)
        add_inner(prepared);
    if (problem_.order == JoinOrder::blocks) {
        add_blocks(prepared);
        return prepared;
    }
    if (slice.head && slice.head->length() > 0)
        add_piece(prepared, *slice.head);
    if (slice.tail)
        add_piece(prepared, *slice.tail);
    return prepared;
}

SliceResults SliceFolder::complete(const PreparedSlice& prepared, std::vector<Results> given)
{
    const auto& slice = *prepared.slice;
    SliceResults results;
    results.first_inner = slice.first_inner;
    results.num_inner = slice.inner.num_segments;
    auto& border = results.border;
    border = border_without_states(slice.head, slice.tail, slice.inner.num_segments > 0,
                                   bytecode_.state.size(), problem_.order);
    std::size_t next = 0;
    if (prepared.has_inner) {
        results.inner = std::move(given[next++]);
        if (inner_.misnumbers_empties)
            number_empties(slice, results.inner);
    }
    if (problem_.order == JoinOrder::blocks) {
        if (!prepared.segments.empty())
            join_blocks(prepared, given[next], results);
        return results;
    }
    Evaluator<double> evaluator(bytecode_);
    std::vector<Slot<double>> state(evaluator.state_fields());
    const auto append = [&](StateRun& into) {
        load_state(given[next++], 0, state.data());
        into.append(evaluator, 0, state.data());
    };
    if (slice.head && slice.head->length() > 0)
        append(border.head);
    if (slice.tail)
        append(border.tail);
    return results;
}

SliceResults SliceFolder::fold(const PreparedSlice& prepared, RunTimes* times)
{
    std::vector<Results> given;
    for (const auto& part_run : prepared.runs) {
        std::optional<PlanText> text;
        if (part_run.plan != nullptr)
            text.emplace(part_run.plan->emitted, part_run.plan->stage->name);
        RunTimes run_times;
        // A back end without stages rounds as each operation does where parts are joined in blocks, so that
        // no cut shows in the bits.
        given.push_back(!text && problem_.order == JoinOrder::blocks
                            ? reduce_sequentially(part_run.workload, Precision::working)
                            : device_.run(part_run.workload, text ? &*text : nullptr, run_times));
        if (times != nullptr)
            times->add(run_times);
    }
    return complete(prepared, std::move(given));
}

}  // namespace segfold
