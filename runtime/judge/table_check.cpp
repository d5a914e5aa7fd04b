#include "runtime/judge/table_check.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "dsl/evaluation/evaluator.h"
#include "dsl/evaluation/table_reads.h"
#include "runtime/data/data_ranges.h"
#include "runtime/data/index_at.h"
#include "runtime/judge/reference.h"
#include "runtime/judge/running_state.h"
#include "runtime/support/processes/segment_blocks.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

constexpr std::int64_t kPieceItems = std::int64_t{1} << 12;

/// Value ranges of a workload's arrays, and lengths of its tables. Each range is computed when first used.
class WorkloadRanges {
public:
    explicit WorkloadRanges(const Workload& workload) : workload_(workload) {}

    Interval values(const std::string& name)
    {
        const auto [place, is_new] = known_.try_emplace(name);
        if (is_new)
            place->second = find(name);
        return place->second;
    }

    /// Number of entries in the table; each row of a row table is one entry.
    [[nodiscard]] std::int64_t length(const std::string& table) const
    {
        const auto parameter = std::ranges::find(workload_.op.parameters, table, &Parameter::name);
        const auto numbers = static_cast<std::int64_t>(array_of(table).length());
        return parameter->row ? numbers / std::max<std::int64_t>(1, workload_.num_features) : numbers;
    }

private:
    [[nodiscard]] const Array& array_of(const std::string& name) const
    {
        const auto& parameters = workload_.op.parameters;
        const auto place = std::ranges::find(parameters, name, &Parameter::name) - parameters.begin();
        return workload_.arrays.at(static_cast<std::size_t>(place));
    }

    [[nodiscard]] Interval find(const std::string& name) const
    {
        const auto& segments = workload_.segments;
        if (name == "index")
            return {0, segments.num_elements - 1};
        if (name == "position")
            return {0, length_range(segments).longest - 1};
        if (name == "segment")
            return {0, segments.num_segments - 1};
        if (name == "length")
            // Only elements read tables, and they lie in non-empty segments.
            return {1, length_range(segments).longest};
        return values_in(array_of(name));
    }

    const Workload& workload_;
    std::map<std::string, Interval> known_;
};

bool has_tables(const Operator& op) { return std::ranges::any_of(op.parameters, &Parameter::table); }

/// Returns the results of segments if map computes table indices from results; otherwise returns none. Throws
/// if the lift of an element reads outside of a table.
Results results_for_map(const Workload& workload)
{
    if (!reads_by_results(workload.op))
        return {};
    return reduce_sequentially(fold_of(workload), Precision::working);
}

/// Scans every segment. Throws for the first element, in scan order, that reads outside of a table.
void visit_running(const Workload& workload, const Bytecode& bytecode, const OperatorInputs& inputs)
{
    const auto& segments = workload.segments;
    for_blocks(segments.num_segments, 0, [&](std::int64_t first, std::int64_t last) {
        Evaluator<double> evaluator(bytecode, inputs.tables);
        std::vector<Slot<double>> lifted(evaluator.state_fields()), outputs(evaluator.output_fields());
        const auto before_first = state_before_first<double>(bytecode);
        for (auto segment = first; segment < last; ++segment) {
            const auto begin = segments.begin(segment);
            RunningState<Slot<double>> running(before_first, bytecode.scans_reversely);
            visit_in_order(begin, segments.end(segment), bytecode.scans_reversely, [&](std::int64_t element) {
                evaluator.lift(inputs.columns, element, element - begin, segment, lifted.data());
                running.take(lifted, [&](const auto* earlier, const auto* later, auto* out) {
                    evaluator.combine(earlier, later, out);
                });
                evaluator.scan(inputs.columns, element, element - begin, segment, running.before(),
                               running.through(), outputs.data());
            });
        }
    });
}

/// Lifts every element that lies in a group, in the order of the elements. Throws for the first element that
/// reads outside of a table.
void visit_groups(const Workload& workload)
{
    const auto& segments = workload.segments;
    const auto bytecode = compile_bytecode(workload.op);
    const auto inputs = inputs_of(workload);
    for_blocks((segments.num_elements + kPieceItems - 1) / kPieceItems, 0,
               [&](std::int64_t first, std::int64_t last) {
                   Evaluator<double> evaluator(bytecode, inputs.tables);
                   std::vector<Slot<double>> state(evaluator.state_fields());
                   const auto end = std::min(last * kPieceItems, segments.num_elements);
                   for (auto element = first * kPieceItems; element < end; ++element)
                       if (const auto group = index_at(segments.numbers, element); group >= 0)
                           evaluator.lift(inputs.columns, element, 0, group, state.data());
               });
}

/// Lifts every element of every segment, and runs map and scan if the operator has them. Throws for the first
/// element that reads outside of a table. If scan computes table indices from states, the reads of scan are
/// checked last.
void visit_all(const Workload& workload)
{
    const auto& segments = workload.segments;
    if (segments.form == SegmentForm::groups)
        return visit_groups(workload);
    const auto bytecode = compile_bytecode(workload.op);
    const auto inputs = inputs_of(workload);
    const auto results = results_for_map(workload);
    // Index of the first item of each range; in other forms, items are elements.
    std::vector<std::int64_t> item_begins;
    if (segments.form == SegmentForm::ranges) {
        item_begins.push_back(0);
        for (std::int64_t s = 0; s < segments.num_segments; ++s)
            item_begins.push_back(item_begins.back() + segments.length(s));
    }
    const auto item_begin = [&](std::int64_t segment) {
        return item_begins.empty() ? segments.begin(segment) : item_begins[static_cast<std::size_t>(segment)];
    };
    const bool scans_by_states = reads_by_states(workload.op);
    // These reads of scan do not depend on states, so any state will do.
    const bool scans_anywhere = bytecode.has_scan && !scans_by_states;
    const auto items = num_items(segments);
    // If several blocks throw, for_blocks() rethrows the exception of the first block, for any number of
    // threads.
    for_blocks((items + kPieceItems - 1) / kPieceItems, 0, [&](std::int64_t first, std::int64_t last) {
        Evaluator<double> evaluator(bytecode, inputs.tables);
        std::vector<Slot<double>> state(evaluator.state_fields()), outputs(evaluator.output_fields());
        std::vector<Slot<double>> result(evaluator.result_fields());
        std::int64_t item = first * kPieceItems;
        const auto end = std::min(last * kPieceItems, items);
        std::int64_t segment = 0, beyond = segments.num_segments;
        // Binary search for the last segment that begins at or before the item.
        while (beyond - segment > 1) {
            const auto middle = std::midpoint(segment, beyond);
            (item_begin(middle) <= item ? segment : beyond) = middle;
        }
        for (; item < end; ++segment) {
            const auto begin = segments.begin(segment), length = segments.length(segment);
            for (std::size_t f = 0; f < results.size(); ++f)
                Machine<double>::load(result[f], results[f].array.type(), results[f].array.data(), segment);
            for (auto position = item - item_begin(segment); position < length && item < end;
                 ++position, ++item) {
                evaluator.lift(inputs.columns, begin + position, position, segment, state.data());
                if (bytecode.has_map)
                    evaluator.map(inputs.columns, begin + position, position, segment, length, result.data(),
                                  outputs.data());
                if (scans_anywhere)
                    evaluator.scan(inputs.columns, begin + position, position, segment, state.data(),
                                   state.data(), outputs.data());
            }
        }
    });
    if (scans_by_states)
        visit_running(workload, bytecode, inputs);
}

}  // namespace

std::vector<std::string> unproved_tables(const Workload& workload)
{
    if (!has_tables(workload.op))
        return {};
    WorkloadRanges ranges(workload);
    return unproved_tables(workload.op, {[&](const std::string& name) { return ranges.values(name); },
                                         [&](const std::string& table) { return ranges.length(table); }});
}

void check_tables(const Workload& workload)
{
    if (!unproved_tables(workload).empty())
        visit_all(workload);
}

void refuse_table_reads(const Workload& workload, const std::vector<std::string>& tables)
{
    visit_all(workload);
    std::string names;
    for (const auto& table : tables)
        names += (names.empty() ? "'" : ", '") + table + "'";
    throw InputError(
        "table " + names +
        " is read outside of its length by the back end, and by no element as the host evaluates "
        "the operator; where an index is computed in floating point, keep it away from the "
        "table's ends by as much as it may be rounded");
}

}  // namespace segfold
