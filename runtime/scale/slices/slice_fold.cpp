#include "runtime/scale/slices/slice_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "dsl/error.h"
#include "runtime/judge/reference.h"
#include "runtime/session/choice/choice.h"

namespace segfold {
namespace {

/// Adds the arrays of PartOperator::bases to a workload.
void add_bases(Workload& workload, const PartOperator& part, std::int64_t first_element,
               std::span<const SlicePiece> pieces)
{
    std::size_t field = 0;
    for (const auto base : part.bases) {
        if (base == BaseTable::carry) {
            auto& entry = workload.arrays.emplace_back(part.op.state[field++].type, 1);
            std::memset(entry.data(), 0, entry.bytes());
            continue;
        }
        std::vector<std::int64_t> values;
        for (const auto& piece : pieces)
            values.push_back(base == BaseTable::segment ? piece.segment : piece.position);
        if (base == BaseTable::index)
            values.assign(1, first_element);
        if (base == BaseTable::carried)
            values.assign(1, 0);
        if (base == BaseTable::first)
            values.assign(1, part.op.scan->reverse ? pieces.front().length() - 1 : 0);
        workload.arrays.push_back(Array::of<std::int64_t>(Type::i64, values));
    }
}

/// Returns `count` elements of each column, from element `begin` on, and whole tables.
std::vector<Array> columns_of(const Operator& op, const Slice& slice, std::int64_t begin, std::int64_t count)
{
    std::vector<Array> arrays;
    for (std::size_t i = 0; i < slice.arrays.size(); ++i) {
        const auto& array = slice.arrays[i];
        arrays.push_back(op.parameters[i].table ? array.lend() : part_of(array, begin, count));
    }
    return arrays;
}

/// Reads the state of a segment. The fields of states are the first arrays of `results`.
void load_state(const Results& results, std::int64_t segment, std::span<Slot<double>> state)
{
    for (std::size_t f = 0; f < state.size(); ++f)
        Machine<double>::load(state[f], results[f].array.type(), results[f].array.data(), segment);
}

Array indices_of(Type type, const std::vector<std::int64_t>& values)
{
    if (type == Type::i64)
        return Array::of<std::int64_t>(type, values);
    const std::vector<std::int32_t> narrow(values.begin(), values.end());
    return Array::of<std::int32_t>(type, narrow);
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

/// Returns `op`; for SliceScope::ends, returns a copy of `op` that keeps neither results nor outputs.
Operator joined_operator(Operator op, SliceScope scope)
{
    if (scope == SliceScope::ends) {
        op = state_operator(op);
        op.keeps_results = false;
    }
    return op;
}

}  // namespace

void store(const ElementResults& from, std::span<NamedArray> into, std::int64_t first_element)
{
    for (std::size_t f = 0; f < from.results.size(); ++f) {
        const auto& array = from.results[f].array;
        const auto width = size_bytes(array.type());
        for (const auto& [begin, end] : from.spans)
            std::memcpy(into[f].array.data() +
                            static_cast<std::size_t>(from.first_element + begin - first_element) * width,
                        array.data() + static_cast<std::size_t>(begin) * width,
                        static_cast<std::size_t>(end - begin) * width);
    }
}

Results joined(const std::vector<ResultField>& outputs, std::vector<ElementResults>&& parts,
               std::int64_t first_element, std::int64_t num_elements)
{
    if (parts.size() == 1)
        return std::move(parts.front().results);
    Results all;
    for (const auto& output : outputs)
        all.push_back({output.name, Array(output.type, static_cast<std::size_t>(num_elements))});
    for (const auto& part : parts)
        store(part, all, first_element);
    return all;
}

SliceFolder::SliceFolder(const SliceProblem& problem, SliceDevice device, SliceScope scope)
    : problem_(problem),
      device_(std::move(device)),
      scope_(scope),
      inner_(inner_operator(problem.op)),
      piece_(scans() ? output_piece_operator(problem.op) : piece_operator(problem.op)),
      joining_(std::make_shared<Joining>(joined_operator(problem.op, scope), problem.order))
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
    // The plan serves all slices, so it does not depend on this slice.
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
    const SlicePiece first{slice.first_inner};
    add_bases(workload, inner_, slice.first_element + begin, {&first, 1});
    if (problem_.order == JoinOrder::blocks && device_.runs_stages) {
        // The order of combination within a segment depends only on its length. A segment longer than a block
        // is replaced by its first element here, and add_blocks() folds its blocks.
        std::vector<std::int64_t> begins, ends;
        for (std::int64_t s = 0; s < segments.num_segments; ++s) {
            begins.push_back(segments.begin(s));
            ends.push_back(segments.length(s) > kJoinBlock ? segments.begin(s) + 1 : segments.end(s));
        }
        workload.segments = ranges_of(begins, ends, count, segments.has_wide_indices);
    } else {
        workload.segments = segments.lend();
    }
    add_run(prepared, std::move(workload), inner_);
}

void SliceFolder::add_piece(PreparedSlice& prepared, const SlicePiece& piece)
{
    const auto& slice = *prepared.slice;
    Workload workload{piece_.op, {}, {}};
    workload.arrays = columns_of(problem_.op, slice, piece.begin, piece.length());
    add_bases(workload, piece_, slice.first_element + piece.begin, {&piece, 1});
    workload.segments = whole_segments(piece.length());
    workload.segments.has_wide_indices |= slice.inner.has_wide_indices;
    add_run(prepared, std::move(workload), piece_);
    prepared.pieces.push_back(piece);
}

void SliceFolder::add_blocks(PreparedSlice& prepared)
{
    const auto& slice = *prepared.slice;
    auto& blocks = prepared.pieces;
    const auto add = [&](const SlicePiece& piece) {
        for (auto at = piece.begin; at < piece.end; at += kJoinBlock)
            blocks.push_back(
                {piece.segment, at, std::min(at + kJoinBlock, piece.end), piece.position + at - piece.begin});
    };
    if (slice.head)
        add(*slice.head);
    if (slice.tail)
        add(*slice.tail);
    // Add inner segments that are longer than a block. Their elements count from the begin of the inner
    // segments.
    const auto offset = slice.inner.form == SegmentForm::ranges ? 0 : slice.inner_begin;
    for (std::int64_t s = 0; s < slice.inner.num_segments; ++s)
        if (slice.inner.length(s) > kJoinBlock)
            add({slice.first_inner + s, offset + slice.inner.begin(s), offset + slice.inner.end(s), 0});
    if (blocks.empty())
        return;
    std::vector<std::int64_t> begins, ends;
    for (const auto& block : blocks) {
        begins.push_back(block.begin);
        ends.push_back(block.end);
    }
    Workload workload{piece_.op, {}, {}};
    workload.arrays = columns_of(problem_.op, slice, 0, slice.num_elements);
    add_bases(workload, piece_, slice.first_element, blocks);
    workload.segments = ranges_of(begins, ends, slice.num_elements, slice.inner.has_wide_indices);
    add_run(prepared, std::move(workload), piece_);
}

void SliceFolder::number_empties(const Slice& slice, Results& results)
{
    Evaluator<double> evaluator(joining_->bytecode);
    std::vector<Slot<double>> result(evaluator.result_fields());
    for (std::int64_t s = 0; s < slice.inner.num_segments; ++s)
        if (slice.inner.length(s) == 0) {
            evaluator.empty(slice.first_inner + s, result.data());
            for (std::size_t f = 0; f < results.size(); ++f)
                Machine<double>::store(result[f], results[f].array.type(), results[f].array.data(), s);
        }
}

PreparedSlice SliceFolder::prepare(const Slice& slice)
{
    PreparedSlice prepared{&slice};
    prepared.has_inner = slice.inner.num_segments > 0 && scope_ == SliceScope::everything;
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
    if (!scans() || prepared.pieces.empty())
        return prepared;
    // A forward scan may continue in the first piece. A reverse scan may continue in the last piece, whose
    // segment ends in another slice.
    if (problem_.op.scan->reverse ? slice.tail.has_value() : prepared.pieces.front().position > 0)
        prepared.carried = problem_.op.scan->reverse ? prepared.runs.size() - 1 : prepared.has_inner ? 1 : 0;
    return prepared;
}

void SliceFolder::carry(PreparedSlice& prepared, const Partial::Value* state) const
{
    if (!prepared.carried || state == nullptr)
        return;
    auto& run = prepared.runs[*prepared.carried];
    std::size_t field = 0;
    for (std::size_t i = 0; i < piece_.bases.size(); ++i) {
        auto& array = run.workload.arrays[problem_.op.parameters.size() + i];
        if (piece_.bases[i] == BaseTable::carried)
            array.as<std::int64_t>()[0] = 1;
        if (piece_.bases[i] == BaseTable::carry)
            Machine<double>::store(state[field++], array.type(), array.data(), 0);
    }
}

/// Moves the outputs of the inner segments, or of a piece, from the end of a run's results to `running`.
void SliceFolder::take_running(const Slice& slice, const SlicePiece* piece, Results& given,
                               std::vector<ElementResults>* running) const
{
    const auto& outputs = problem_.op.outputs;
    if (!scans())
        return;
    const bool is_ranges = slice.inner.form == SegmentForm::ranges;
    ElementResults elements{slice.first_element + (piece != nullptr ? piece->begin
                                                   : is_ranges      ? 0
                                                                    : slice.inner_begin)};
    const auto first = given.size() - outputs.size();
    for (std::size_t i = 0; i < outputs.size(); ++i)
        elements.results.push_back({outputs[i].name, std::move(given[first + i].array)});
    given.erase(given.begin() + static_cast<std::ptrdiff_t>(first), given.end());
    if (piece == nullptr && is_ranges)
        for (std::int64_t s = 0; s < slice.inner.num_segments; ++s)
            elements.spans.push_back({slice.inner.begin(s), slice.inner.end(s)});
    else
        elements.spans.push_back({0, piece != nullptr ? piece->length() : slice.inner.num_elements});
    if (running != nullptr)
        running->push_back(std::move(elements));
}

Partial SliceFolder::complete(const PreparedSlice& prepared, std::vector<Results> given,
                              std::vector<ElementResults>* running)
{
    const auto& slice = *prepared.slice;
    const auto& pieces = prepared.pieces;
    const bool is_in_blocks = problem_.order == JoinOrder::blocks;
    std::size_t run = 0;
    SegmentResults inner{slice.first_inner, slice.inner.num_segments};
    const bool has_head = !pieces.empty() && slice.head && pieces.front().segment == slice.head->segment;
    if (has_head && !is_in_blocks)
        take_running(slice, &pieces.front(), given[prepared.has_inner ? 1 : 0], running);
    if (prepared.has_inner) {
        take_running(slice, nullptr, given[run], running);
        inner.results = std::move(given[run++]);
        if (inner_.misnumbers_empties)
            number_empties(slice, inner.results);
    }
    Partial all(joining_), tail(joining_), own(joining_);
    if (slice.head && slice.head->length() == 0)
        all = Partial::of_part(joining_, {slice.head->segment, slice.head->position}, nullptr);
    if (slice.tail && !is_in_blocks)
        take_running(slice, &pieces.back(), given.back(), running);
    std::vector<Slot<double>> state(joining_->bytecode.state.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto segment = pieces[i].segment;
        const bool is_tail = slice.tail && slice.tail->segment == segment;
        const bool closes = is_tail || (i + 1 < pieces.size() && pieces[i + 1].segment == segment);
        load_state(given[run], is_in_blocks ? static_cast<std::int64_t>(i) : 0, state);
        run += is_in_blocks ? 0 : 1;
        auto part = Partial::of_part(joining_, {segment, pieces[i].position, pieces[i].length(), closes},
                                     state.data());
        if (is_tail)
            tail += std::move(part);
        else if (slice.head && slice.head->segment == segment)
            all += std::move(part);
        else if (own += std::move(part); !closes)
            store(std::exchange(own, Partial(joining_)).take_results(), inner.results, inner.first_segment);
    }
    all += Partial::of_segments(joining_, std::move(inner));
    all += std::move(tail);
    return all;
}

Partial SliceFolder::fold(const PreparedSlice& prepared, RunTimes* times,
                          std::vector<ElementResults>* running)
{
    std::vector<Results> given;
    for (const auto& part_run : prepared.runs) {
        const auto* text = part_run.plan == nullptr ? nullptr : &part_run.plan->emitted;
        RunTimes run_times;
        // Without stages, JoinOrder::blocks needs every operation rounded to the working precision, so that
        // the bits do not depend on the cuts.
        given.push_back(text == nullptr && problem_.order == JoinOrder::blocks
                            ? reduce_sequentially(part_run.workload, Precision::working)
                            : device_.run(part_run.workload, text, run_times));
        if (times != nullptr)
            times->add(run_times);
    }
    return complete(prepared, std::move(given), running);
}

}  // namespace segfold
