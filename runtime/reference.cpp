#include "runtime/reference.h"

#include "runtime/segment_blocks.h"

namespace segfold {
namespace {

/// Folds every segment and hands `store(segment, result)` the values of its result fields.
template <class Real, class Store>
void fold_segments(const Workload& workload, int threads, const Store& store)
{
    check_workload(workload);
    const Bytecode bytecode = compile_bytecode(workload.op);
    const auto inputs = inputs_of(workload);
    const auto& segments = workload.segments;
    for_blocks(segments.num_segments, threads, [&](std::int64_t first, std::int64_t last) {
        Evaluator<Real> evaluator(bytecode, inputs.tables);
        std::vector<Slot<Real>> state(evaluator.state_fields());
        std::vector<Slot<Real>> result(evaluator.result_fields());
        for (std::int64_t segment = first; segment < last; ++segment) {
            const std::int64_t begin = segments.begin(segment);
            const std::int64_t end = segments.end(segment);
            if (begin == end) {
                evaluator.empty(segment, result.data());
            } else {
                evaluator.fold(inputs.columns, begin, end, 0, segment, state.data());
                evaluator.finish(state.data(), segment, end - begin, result.data());
            }
            store(segment, result);
        }
    });
}

template <class Real>
Results fold_and_round(const Workload& workload, int threads)
{
    Results results = allocate_results(workload);
    fold_segments<Real>(workload, threads, [&](std::int64_t segment, const std::vector<Slot<Real>>& result) {
        for (std::size_t f = 0; f < results.size(); ++f)
            Machine<Real>::store(result[f], results[f].array.type(), results[f].array.data(), segment);
    });
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

Results reduce_sequentially(const Workload& workload, Precision precision, int threads)
{
    return precision == Precision::working ? fold_and_round<double>(workload, threads)
                                           : fold_and_round<long double>(workload, threads);
}

WideResults reduce_widely(const Workload& workload, int threads)
{
    WideResults results;
    for (const auto& field : workload.op.results)
        results.push_back({field.name, field.type,
                           std::vector<WideValue>(static_cast<std::size_t>(workload.segments.num_segments))});
    fold_segments<long double>(workload, threads,
                               [&](std::int64_t segment, const std::vector<WideValue>& result) {
                                   for (std::size_t f = 0; f < results.size(); ++f)
                                       results[f].values[static_cast<std::size_t>(segment)] = result[f];
                               });
    return results;
}

}  // namespace segfold
