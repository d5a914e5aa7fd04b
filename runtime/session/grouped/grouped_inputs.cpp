#include "runtime/session/grouped/grouped_inputs.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "dsl/evaluation/evaluator.h"
#include "dsl/rewrite/index_column.h"
#include "runtime/data/key_order.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/core.h"
#include "runtime/session/deliver.h"
#include "runtime/session/plan_state.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

/// Borrows the array of group numbers or keys, one for each element. Messages call it `what`.
Array borrow_marks(const ArrayView& marks, std::string_view what, std::int64_t num_elements)
{
    if (marks.place == Place::device)
        throw InputError(fmt::format(
            "{} lie on a device; fold takes arrays of the host: make a plan for those of a device", what));
    require_type(what, marks.type);
    require_address(what, marks.data, marks.length);
    if (marks.length != num_elements)
        throw InputError(fmt::format("{} are {} for {}; each element has one", what, marks.length,
                                     count_text(num_elements, "element")));
    return borrow(marks);
}

/// Borrows a parameter's array, with its row length if it has rows.
Array borrow_input(const Parameter& parameter, const ArrayView& input)
{
    const auto what = fmt::format("the elements of '{}'", parameter.name);
    if (input.place == Place::device)
        throw InputError(fmt::format("{} lie on a device, and groups are folded on the host", what));
    require_type(what, input.type);
    require_address(what, input.data, input.length);
    auto array = borrow(input);
    array.set_row_length(parameter.row ? static_cast<std::size_t>(input.num_features) : 0);
    return array;
}

}  // namespace

std::vector<ArrayView> GroupedInputs::inputs() const
{
    std::vector<ArrayView> views;
    for (const auto& array : arrays)
        views.push_back(view_of(array));
    return views;
}

SegmentsView GroupedInputs::segments() const
{
    const auto& found = order->segments();
    return found.form == SegmentForm::ranges ? ranges(view_of(found.begins), view_of(found.ends))
                                             : offsets(view_of(found.offsets));
}

GroupedInputs group_inputs(const Operator& op, std::span<const ArrayView> inputs,
                           const SegmentsView& segments, const std::optional<NumberedKeys>& numbered)
{
    require_inputs(op, inputs.size());
    const auto num_elements = num_elements_of(op, inputs, segments);
    const auto num_features = num_features_of(op, inputs);
    const auto marks = borrow_marks(
        segments.first, segments.group_order ? "the keys" : "the numbers of groups", num_elements);
    GroupedInputs grouped;
    if (segments.group_order) {
        auto found = numbered ? KeyGroups(marks, *numbered) : KeyGroups(marks, *segments.group_order);
        grouped.order = std::move(found.order);
        grouped.keys = std::move(found.keys);
    } else {
        grouped.order.emplace(marks, segments.num_groups);
    }
    const auto& order = *grouped.order;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& parameter = op.parameters[i];
        auto array = borrow_input(parameter, inputs[i]);
        const bool is_column =
            !parameter.table && inputs[i].length == num_elements * (parameter.row ? num_features : 1);
        grouped.arrays.push_back(order.moves() && is_column ? order.sorted(array) : std::move(array));
    }
    if (order.moves() && reads_index(op)) {
        grouped.with_index = with_index_column(op);
        grouped.arrays.push_back(order.places());
    }
    return grouped;
}

Workload sorted_by_group(const Workload& workload)
{
    std::vector<ArrayView> inputs;
    for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
        inputs.push_back(view_of(workload.arrays[i]));
        inputs.back().num_features = workload.op.parameters[i].row ? workload.num_features : 1;
    }
    const auto& segments = workload.segments;
    auto grouped =
        group_inputs(workload.op, inputs, groups(view_of(segments.numbers), segments.num_segments));
    return {grouped.with_index ? *std::move(grouped.with_index) : workload.op, std::move(grouped.arrays),
            grouped.order->take_segments(), workload.num_features};
}

bool SessionCore::takes_groups(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                               const PlanRequest& request, const Workload* data, bool may_sort)
{
    const auto backend = running();
    const bool is_native = backend->dialect() == Dialect::native;
    if (segments.group_order || !segments.num_groups || !backend->runs_stages() || backend->interprets() ||
        (is_native && request.is_reproducible))
        return false;
    const auto sizes = plan_sizes(segments, num_elements);
    // A plan for unknown data may drop the identity, which makes its state larger.
    std::vector<OperatorLaws> judged = {laws(op), laws(op)};
    judged.back().without_identity = "a plan does not know its data";
    if (data != nullptr)
        judged = {laws(*data)};
    return std::ranges::all_of(judged, [&](const OperatorLaws& one_of) {
        auto problem = make_problem(op, sizes.form, sizes.sizes.index_bits, one_of);
        problem.target = backend->target();
        problem.number_type = sizes.number_type;
        const auto facts = plan_facts(problem, {num_elements, sizes.sizes.num_segments, num_elements});
        return std::ranges::any_of(catalogue(*backend)->ranked(facts, problem), [&](const auto& one) {
            return request.stage ? one.stage->name == *request.stage
                                 : !may_sort || rank(*one.stage, facts) > 0;
        });
    });
}

std::optional<NumberedKeys> SessionCore::numbered_keys(const Operator& op, std::span<const ArrayView> inputs,
                                                       const SegmentsView& segments,
                                                       const PlanRequest& request)
{
    if (!segments.group_order)
        return std::nullopt;
    const auto num_elements = num_elements_of(op, inputs, segments);
    const auto keys = borrow_marks(segments.first, "the keys", num_elements);
    if (auto near = number_near_keys(keys, *segments.group_order))
        return near;
    // Ascending keys of a small range are sorted without numbers, unless a kernel folds as many groups.
    const auto range = range_of_keys(keys);
    if (range && *segments.group_order == KeyOrder::ascending &&
        !takes_groups(op, groups(segments.first, range->size), num_elements, request))
        return std::nullopt;
    return number_keys(keys, range, *segments.group_order);
}

std::optional<Folded> SessionCore::fold_unsorted(const Operator& op, std::span<const ArrayView> inputs,
                                                 const SegmentsView& segments,
                                                 const std::optional<NumberedKeys>& numbered,
                                                 const FoldOptions& options)
{
    auto numbers = segments;
    if (numbered)
        numbers = groups(view_of(numbered->numbers), static_cast<std::int64_t>(numbered->firsts.length()));
    const auto workload = borrow_as_they_lie(op, inputs, numbers);
    const auto num_elements = workload.segments.num_elements;
    numbers.num_groups = workload.segments.num_segments;
    if (!takes_groups(op, numbers, num_elements, options.plan, &workload))
        return std::nullopt;
    std::optional<Array> keys;  // copied before results are written, which may go to the same memory
    if (numbered)
        keys = chosen_from(borrow_marks(segments.first, "the keys", num_elements), numbered->firsts);
    auto folded = fold_workload(op, workload, numbers, options);
    if (keys)
        folded.results_.keys = std::move(*keys);
    return folded;
}

Folded SessionCore::fold_groups(const Operator& op, std::span<const ArrayView> inputs,
                                const SegmentsView& segments, const FoldOptions& options)
{
    require_inputs(op, inputs.size());
    std::optional<NumberedKeys> numbered;
    if (options.num_slices == 0) {
        numbered = numbered_keys(op, inputs, segments, options.plan);
        if (numbered || !segments.group_order)
            if (auto folded = fold_unsorted(op, inputs, segments, numbered, options))
                return *std::move(folded);
    }
    auto grouped = group_inputs(op, inputs, segments, numbered);
    auto sorted_options = options;
    sorted_options.results.clear();
    const auto fold_sorted = [&] {
        try {
            return fold(grouped.with_index ? *grouped.with_index : op, grouped.inputs(), grouped.segments(),
                        sorted_options);
        } catch (const OutsideTable& outside) {
            throw outside.by(
                grouped.order->places().as<std::int64_t>()[static_cast<std::size_t>(outside.element())]);
        }
    };
    auto folded = fold_sorted();
    const auto num_features = num_features_of(op, inputs);
    if (grouped.order->moves())
        for (auto& [name, array] : folded.results_)
            if (std::ranges::find(op.outputs, name, &ResultField::name) != op.outputs.end()) {
                const auto row_length = array.row_length();
                array.set_row_length(static_cast<std::size_t>(num_features));
                array = grouped.order->unsorted(array);
                array.set_row_length(row_length);
            }
    if (grouped.keys)
        folded.results_.keys = std::move(*grouped.keys);
    deliver(folded.results_, {op, folded.num_segments_, grouped.order->segments().num_elements, num_features},
            {}, {}, options.results);
    return folded;
}

}  // namespace segfold
