#include "runtime/judge/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "dsl/check/rows.h"
#include "dsl/stopped.h"
#include "runtime/judge/running_state.h"
#include "runtime/judge/table_check.h"
#include "runtime/support/processes/segment_blocks.h"

namespace segfold {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLongReference = std::int64_t{1} << 20;
constexpr std::int64_t kPartLength = std::int64_t{1} << 14;
constexpr std::int64_t kChunkLength = std::int64_t{1} << 9;

/// A workload, its bytecode, and its arrays for the evaluator.
struct Folding {
    explicit Folding(const Workload& checked)
        : workload(checked), bytecode(compile_bytecode(checked.op)), inputs(inputs_of(checked))
    {}

    const Workload& workload;
    Bytecode bytecode;
    OperatorInputs inputs;
};

/// Folds chunks of elements from left to right, then combines the states of the chunks. This rounds less than
/// a plain left fold, because fewer partial sums are large. With a `chunk_length` of at least the number of
/// elements, the fold is a plain left fold. `chunk` is memory for one state.
template <class Real>
void fold_in_chunks(Evaluator<Real>& evaluator, const Folding& folding, std::int64_t begin, std::int64_t end,
                    std::int64_t position, std::int64_t segment, std::int64_t chunk_length, Slot<Real>* state,
                    std::vector<Slot<Real>>& chunk)
{
    const auto& columns = folding.inputs.columns;
    const auto chunk_end = [&](std::int64_t from) {
        return end - from > chunk_length ? from + chunk_length : end;
    };
    evaluator.fold(columns, begin, chunk_end(begin), position, segment, state);
    for (auto from = chunk_end(begin); from < end; from = chunk_end(from)) {
        evaluator.fold(columns, from, chunk_end(from), position + (from - begin), segment, chunk.data());
        evaluator.combine(state, chunk.data(), state);
    }
}

/// Divides a segment into parts that all threads fold, then combines the parts' states. Both steps go from
/// left to right.
template <class Real>
void fold_in_parts(const Folding& folding, std::int64_t segment, int threads, Slot<Real>* state)
{
    const std::int64_t begin = folding.workload.segments.begin(segment);
    const std::int64_t end = folding.workload.segments.end(segment);
    const std::int64_t num_parts = (end - begin + kPartLength - 1) / kPartLength;
    const std::size_t n = folding.bytecode.state.size();
    std::vector<Slot<Real>> states(static_cast<std::size_t>(num_parts) * n);
    for_blocks(num_parts, threads, [&](std::int64_t first, std::int64_t last) {
        Evaluator<Real> evaluator(folding.bytecode, folding.inputs.tables);
        std::vector<Slot<Real>> chunk(n);
        for (std::int64_t part = first; part < last; ++part) {
            const std::int64_t position = part * kPartLength;
            fold_in_chunks(evaluator, folding, begin + position,
                           std::min(begin + position + kPartLength, end), position, segment, kChunkLength,
                           &states[static_cast<std::size_t>(part) * n], chunk);
        }
    });
    Evaluator<Real> evaluator(folding.bytecode, folding.inputs.tables);
    std::copy_n(states.begin(), n, state);
    for (std::size_t part = 1; part < static_cast<std::size_t>(num_parts); ++part)
        evaluator.combine(state, &states[part * n], state);
}

/// Folds every segment and calls `store(segment, result)` with its result fields. If `in_chunks` is true,
/// folds in chunks, and long segments on all threads.
template <class Real, class Store>
void fold_segments(const Workload& workload, int threads, bool in_chunks, const Store& store)
{
    check_workload(workload);
    const Folding folding(workload);
    const auto& segments = workload.segments;
    std::mutex mutex;
    std::vector<std::int64_t> long_segments;
    for_blocks(segments.num_segments, threads, [&](std::int64_t first, std::int64_t last) {
        Evaluator<Real> evaluator(folding.bytecode, folding.inputs.tables);
        std::vector<Slot<Real>> state(evaluator.state_fields()), chunk(evaluator.state_fields());
        std::vector<Slot<Real>> result(evaluator.result_fields());
        for (std::int64_t segment = first; segment < last; ++segment) {
            const std::int64_t begin = segments.begin(segment);
            const std::int64_t end = segments.end(segment);
            if (in_chunks && end - begin >= kLongReference) {
                const std::lock_guard lock(mutex);
                long_segments.push_back(segment);
                continue;
            }
            if (begin == end) {
                evaluator.empty(segment, result.data());
            } else {
                fold_in_chunks(evaluator, folding, begin, end, 0, segment, in_chunks ? kChunkLength : kNever,
                               state.data(), chunk);
                evaluator.finish(state.data(), segment, end - begin, result.data());
            }
            store(segment, result);
        }
    });
    Evaluator<Real> evaluator(folding.bytecode, folding.inputs.tables);
    std::vector<Slot<Real>> state(evaluator.state_fields());
    std::vector<Slot<Real>> result(evaluator.result_fields());
    for (const std::int64_t segment : long_segments) {
        fold_in_parts(folding, segment, threads, state.data());
        evaluator.finish(state.data(), segment, segments.length(segment), result.data());
        store(segment, result);
    }
}

/// Computes map for the elements of a segment and calls `store(element, outputs)` for each. Only the outputs
/// of map are set.
template <class Real, class Store>
void map_segment(const Workload& workload, const OperatorInputs& inputs, Evaluator<Real>& evaluator,
                 std::int64_t segment, const Slot<Real>* result, const Store& store)
{
    const std::int64_t begin = workload.segments.begin(segment);
    const std::int64_t length = workload.segments.length(segment);
    std::vector<Slot<Real>> outputs(evaluator.output_fields());
    for (std::int64_t i = 0; i < length; ++i) {
        if ((begin + i) % kElementsBetweenLooks == 0)
            throw_if_stopped();
        evaluator.map(inputs.columns, begin + i, i, segment, length, result, outputs.data());
        store(begin + i, outputs);
    }
}

/// Scans the elements of every segment and calls `store(element, outputs)` for each. Only the outputs of scan
/// are set.
template <class Real, class Store>
void scan_segments(const Folding& folding, int threads, const Store& store)
{
    const auto& segments = folding.workload.segments;
    const bool is_reverse = folding.bytecode.scans_reversely;
    for_blocks(segments.num_segments, threads, [&](std::int64_t first, std::int64_t last) {
        Evaluator<Real> evaluator(folding.bytecode, folding.inputs.tables);
        std::vector<Slot<Real>> lifted(evaluator.state_fields()), outputs(evaluator.output_fields());
        const auto before_first = state_before_first<Real>(folding.bytecode);
        const auto combine = [&](const Slot<Real>* earlier, const Slot<Real>* later, Slot<Real>* out) {
            evaluator.combine(earlier, later, out);
        };
        for (std::int64_t segment = first; segment < last; ++segment) {
            const auto begin = segments.begin(segment);
            RunningState<Slot<Real>> running(before_first, is_reverse);
            visit_in_order(begin, segments.end(segment), is_reverse, [&](std::int64_t i) {
                if (i % kElementsBetweenLooks == 0)
                    throw_if_stopped();
                evaluator.lift(folding.inputs.columns, i, i - begin, segment, lifted.data());
                running.take(lifted, combine);
                evaluator.scan(folding.inputs.columns, i, i - begin, segment, running.before(),
                               running.through(), outputs.data());
                store(i, outputs);
            });
        }
    });
}

/// True if the results of segments are neither returned nor read by map. They are then not computed.
bool needs_no_results(const Operator& op) { return !op.keeps_results && !op.map; }

template <class Real>
Results fold_and_round(const Workload& workload, int threads)
{
    Results results = allocate_results(workload);
    const auto first_output = results.size() - workload.op.outputs.size();
    const Folding folding(workload);
    const auto store = [&](const Slot<Real>& value, std::size_t field, std::int64_t place) {
        Machine<Real>::store(value, results[field].array.type(), results[field].array.data(), place);
    };
    const auto store_outputs = [&](const std::vector<std::size_t>& places) {
        return [&, first_output](std::int64_t element, const std::vector<Slot<Real>>& outputs) {
            for (const auto place : places)
                store(outputs[place], first_output + place, element);
        };
    };
    const auto take = [&](std::int64_t segment, const std::vector<Slot<Real>>& result) {
        for (std::size_t f = 0; workload.op.keeps_results && f < first_output; ++f)
            store(result[f], f, segment);
        if (!workload.op.map)
            return;
        Evaluator<Real> evaluator(folding.bytecode, folding.inputs.tables);
        map_segment(workload, folding.inputs, evaluator, segment, result.data(),
                    store_outputs(folding.bytecode.mapped));
    };
    try {
        if (needs_no_results(workload.op))
            check_workload(workload);
        else
            fold_segments<Real>(workload, threads, false, take);
        if (workload.op.scan)
            scan_segments<Real>(folding, threads, store_outputs(folding.bytecode.scanned));
    } catch (const InputError&) {
        if (!workload.op.outputs.empty())
            // Reports the first element that reads outside; the parts above may have met another one.
            check_tables(workload);
        throw;
    }
    return results;
}

}  // namespace

OperatorInputs inputs_of(const Workload& workload)
{
    OperatorInputs inputs;
    for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
        const auto& array = workload.arrays[i];
        if (workload.op.parameters[i].table)
            inputs.tables.push_back({array.data(), static_cast<std::int64_t>(array.length())});
        else
            inputs.columns.push_back(array.data());
    }
    return inputs;
}

Results map_elements(const Workload& workload, Results results, int threads)
{
    auto mapped = allocate_results(workload);
    const auto first_output = mapped.size() - workload.op.outputs.size();
    // Elements that lie in no segment must get zero in every form.
    for (std::size_t f = first_output; f < mapped.size(); ++f)
        std::fill_n(mapped[f].array.data(), mapped[f].array.bytes(), std::byte{0});
    const Folding folding(workload);
    const auto store_outputs = [&](const std::vector<std::size_t>& places) {
        return [&, first_output](std::int64_t element, const std::vector<Slot<double>>& outputs) {
            for (const auto place : places) {
                auto& array = mapped[first_output + place].array;
                Machine<double>::store(outputs[place], array.type(), array.data(), element);
            }
        };
    };
    if (workload.op.scan)
        scan_segments<double>(folding, threads, store_outputs(folding.bytecode.scanned));
    for_blocks(workload.segments.num_segments, threads, [&](std::int64_t first, std::int64_t last) {
        if (!workload.op.map)
            return;
        Evaluator<double> evaluator(folding.bytecode, folding.inputs.tables);
        std::vector<Slot<double>> result(evaluator.result_fields());
        for (std::int64_t segment = first; segment < last; ++segment) {
            for (std::size_t f = 0; f < results.size(); ++f)
                Machine<double>::load(result[f], results[f].array.type(), results[f].array.data(), segment);
            map_segment(workload, folding.inputs, evaluator, segment, result.data(),
                        store_outputs(folding.bytecode.mapped));
        }
    });
    for (std::size_t f = 0; f < first_output; ++f)
        mapped[f].array = std::move(results[f].array);
    mapped.keys = std::move(results.keys);
    return mapped;
}

Precision precision_of_reference(const Operator& op)
{
    return is_exact(op) ? Precision::working : Precision::wide;
}

std::string_view name(Precision precision) { return precision == Precision::working ? "working" : "wide"; }

std::string text_of(Precision precision)
{
    if (precision == Precision::working)
        return "the types of the operator, in which nothing rounds";
    return fmt::format("long double ({} bits of significand), rounded once at the end",
                       std::numeric_limits<long double>::digits);
}

Results right_results(const Workload& workload, int threads)
{
    return reduce_sequentially(workload, precision_of_reference(workload.op), threads);
}

Results reduce_sequentially(const Workload& workload, Precision precision, int threads)
{
    if (has_rows(workload.op)) {
        check_workload(workload);
        return fold_features(workload, [&](const Workload& feature) {
            return reduce_sequentially(feature, precision, threads);
        });
    }
    return precision == Precision::working ? fold_and_round<double>(workload, threads)
                                           : fold_and_round<long double>(workload, threads);
}

WideResults reduce_widely(const Workload& workload, int threads, bool is_associative)
{
    WideResults results;
    for (const auto& field : workload.op.results)
        results.push_back({field.name, field.type,
                           std::vector<WideValue>(static_cast<std::size_t>(workload.segments.num_segments))});
    for (const auto& field : workload.op.outputs)
        results.push_back({field.name, field.type,
                           std::vector<WideValue>(static_cast<std::size_t>(workload.segments.num_elements))});
    check_workload(workload);
    const auto num_results = workload.op.results.size();
    const Folding folding(workload);
    const auto store_outputs = [&](const std::vector<std::size_t>& places) {
        return [&, num_results](std::int64_t element, const std::vector<WideValue>& outputs) {
            for (const auto place : places)
                results[num_results + place].values[static_cast<std::size_t>(element)] = outputs[place];
        };
    };
    const auto take = [&](std::int64_t segment, const std::vector<WideValue>& result) {
        for (std::size_t f = 0; f < num_results; ++f)
            results[f].values[static_cast<std::size_t>(segment)] = result[f];
        if (!workload.op.map)
            return;
        Evaluator<long double> evaluator(folding.bytecode, folding.inputs.tables);
        map_segment(workload, folding.inputs, evaluator, segment, result.data(),
                    store_outputs(folding.bytecode.mapped));
    };
    try {
        if (!needs_no_results(workload.op))
            fold_segments<long double>(workload, threads, is_associative, take);
        if (workload.op.scan)
            scan_segments<long double>(folding, threads, store_outputs(folding.bytecode.scanned));
    } catch (const InputError&) {
        // Reports the first element that reads outside; the loops above may have met another one.
        check_tables(workload);
        throw;
    }
    return results;
}

}  // namespace segfold
