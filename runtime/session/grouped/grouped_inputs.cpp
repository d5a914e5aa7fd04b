#include "runtime/session/grouped/grouped_inputs.h"

#include <fmt/format.h>

#include "dsl/error.h"
#include "dsl/evaluation/evaluator.h"
#include "dsl/rewrite/index_column.h"
#include "runtime/data/key_order.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/core.h"
#include "runtime/session/deliver.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

/// The numbers or keys of the groups, one for each element, borrowed; `what` names them.
Array borrow_marks(const ArrayView& marks, std::string_view what, std::int64_t num_elements)
{
    if (marks.place == Place::device)
        throw InputError(fmt::format(
            "{} lie on a device; fold takes arrays of the host: sort those of a device by group, and "
            "give offsets",
            what));
    require_type(what, marks.type);
    require_address(what, marks.data, marks.length);
    if (marks.length != num_elements)
        throw InputError(fmt::format("{} are {} for {}; each element has one", what, marks.length,
                                     count_text(num_elements, "element")));
    return Array::borrow(marks.type, marks.data, static_cast<std::size_t>(marks.length));
}

ArrayView view_of(const Array& array)
{
    ArrayView view(array.type(), array.data(), static_cast<std::int64_t>(array.length()));
    view.num_features = static_cast<std::int64_t>(std::max<std::size_t>(array.row_length(), 1));
    return view;
}

/// A lent array, as rows if it has rows.
Array borrow_input(const Parameter& parameter, const ArrayView& input)
{
    const auto what = fmt::format("the elements of '{}'", parameter.name);
    if (input.place == Place::device)
        throw InputError(fmt::format("{} lie on a device, and groups are folded on the host", what));
    require_type(what, input.type);
    require_address(what, input.data, input.length);
    auto array = Array::borrow(input.type, input.data, static_cast<std::size_t>(input.length));
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
                           const SegmentsView& segments)
{
    require_inputs(op, inputs.size());
    const auto num_elements = num_elements_of(op, inputs, segments);
    const auto num_features = num_features_of(op, inputs);
    const auto marks = borrow_marks(
        segments.first, segments.group_order ? "the keys" : "the numbers of groups", num_elements);
    GroupedInputs grouped;
    if (segments.group_order) {
        KeyGroups found(marks, *segments.group_order);
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

Folded SessionCore::fold_groups(const Operator& op, std::span<const ArrayView> inputs,
                                const SegmentsView& segments, const FoldOptions& options)
{
    auto grouped = group_inputs(op, inputs, segments);
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
