#include "runtime/data/workload.h"

#include <algorithm>
#include <cstring>

#include "dsl/check/rows.h"
#include "runtime/data/groups.h"
#include "runtime/support/text_table.h"

namespace segfold {

Results allocate_results(const Workload& workload)
{
    return allocate_results(workload, converted_form(workload.segments.form));
}

Results allocate_results(const Workload& workload, SegmentForm form)
{
    return allocate_results(workload.op, form, workload.segments.num_segments, workload.segments.num_elements,
                            workload.num_features);
}

Results allocate_results(const Operator& op, SegmentForm form, std::int64_t num_segments,
                         std::int64_t num_elements, std::int64_t num_features)
{
    constexpr int kPoison = 0xcd;
    Results results;
    const auto add = [&](const ResultField& field, std::int64_t length, bool is_zero) {
        Array array(field.type, static_cast<std::size_t>(length));
        if (array.bytes() != 0)
            std::memset(array.data(), is_zero || field.type == Type::boolean ? 0 : kPoison, array.bytes());
        if (has_rows(op))
            array.set_row_length(static_cast<std::size_t>(num_features));
        results.push_back({field.name, std::move(array)});
    };
    if (op.keeps_results)
        for (const auto& field : op.results)
            add(field, num_features * (is_found(form) ? num_elements : num_segments), false);
    // Ranges may leave gaps. Outputs of elements in a gap are zero.
    for (const auto& field : op.outputs)
        add(field, num_features * num_elements, form == SegmentForm::ranges);
    return results;
}

namespace {

Array take_feature(const Array& rows, std::int64_t feature, std::int64_t num_features)
{
    const auto step = static_cast<std::size_t>(num_features), bytes = size_bytes(rows.type());
    Array array(rows.type(), rows.length() / step);
    for (std::size_t i = 0; i < array.length(); ++i)
        std::memcpy(array.data() + i * bytes,
                    rows.data() + (i * step + static_cast<std::size_t>(feature)) * bytes, bytes);
    return array;
}

}  // namespace

Workload feature_of(const Workload& workload, std::int64_t feature)
{
    Workload one{of_one_feature(workload.op), {}, workload.segments.copy()};
    for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
        const auto& array = workload.arrays[i];
        one.arrays.push_back(workload.op.parameters[i].row
                                 ? take_feature(array, feature, workload.num_features)
                                 : array.lend());
    }
    return one;
}

Results feature_of(const Results& results, std::int64_t feature, std::int64_t num_features)
{
    Results one;
    for (const auto& [name, array] : results)
        one.push_back({name, take_feature(array, feature, num_features)});
    if (results.keys)
        one.keys = results.keys->copy();
    return one;
}

Results fold_features(const Workload& workload, const std::function<Results(const Workload&)>& fold)
{
    auto rows = allocate_results(workload);
    const auto step = static_cast<std::size_t>(workload.num_features);
    for (std::size_t feature = 0; feature < step; ++feature) {
        const auto results = fold(feature_of(workload, static_cast<std::int64_t>(feature)));
        for (std::size_t f = 0; f < rows.size(); ++f) {
            const auto& array = results[f].array;
            const auto bytes = size_bytes(array.type());
            for (std::size_t i = 0; i < array.length(); ++i)
                std::memcpy(rows[f].array.data() + (i * step + feature) * bytes, array.data() + i * bytes,
                            bytes);
        }
        if (results.keys)
            rows.keys = results.keys->copy();
    }
    return rows;
}

Workload fold_of(const Workload& workload)
{
    Workload fold{without_outputs(workload.op), {}, workload.segments.copy(), workload.num_features};
    for (const auto& array : workload.arrays)
        fold.arrays.push_back(array.lend());
    return fold;
}

namespace {

std::optional<std::int64_t> first_empty(const Segments& segments)
{
    if (segments.form == SegmentForm::groups)
        return first_empty_group(segments);
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        if (segments.length(s) == 0)
            return s;
    return std::nullopt;
}

/// Throws InputError if ranges overlap, because a shared element would get two outputs.
void refuse_shared_elements(const Segments& segments, const std::string& op)
{
    if (segments.form != SegmentForm::ranges)
        return;
    std::vector<std::int64_t> order;
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        if (segments.length(s) != 0)
            order.push_back(s);
    std::ranges::sort(order, {}, [&](std::int64_t s) { return segments.begin(s); });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (segments.begin(order[i]) < segments.end(order[i - 1]))
            throw InputError("segments " + std::to_string(std::min(order[i - 1], order[i])) + " and " +
                             std::to_string(std::max(order[i - 1], order[i])) + " share element " +
                             std::to_string(segments.begin(order[i])) + ", and operator " + op +
                             " gives each element one output; give ranges that do not overlap");
}

}  // namespace

void check_num_features(const std::string& what, std::int64_t num_features)
{
    if (num_features > kMaxFeatures)
        throw InputError(what + " has rows of " + std::to_string(num_features) +
                         " features; a row has at most " + std::to_string(kMaxFeatures));
}

void check_workload(const Workload& workload)
{
    const auto& op = workload.op;
    const auto& segments = workload.segments;
    if (workload.arrays.size() != op.parameters.size())
        throw InternalError("a workload with " + std::to_string(workload.arrays.size()) + " arrays for " +
                            std::to_string(op.parameters.size()) + " parameters");
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const auto& array = workload.arrays[i];
        if (array.type() != parameter.type)
            throw InputError("parameter '" + parameter.name + "' of operator " + op.name + " is " +
                             std::string(name(parameter.type)) + ", but its array is " +
                             std::string(name(array.type())) + "; give an array of " +
                             std::string(name(parameter.type)) + ", or write the operator for " +
                             std::string(name(array.type())));
        if (parameter.scalar && array.length() != 1)
            throw InputError("scalar '" + parameter.name + "' has " + std::to_string(array.length()) +
                             " values; give it one");
        const auto length = static_cast<std::int64_t>(array.length());
        if (parameter.row && workload.num_features < 1)
            throw InputError("'" + parameter.name + "' has rows of " + std::to_string(workload.num_features) +
                             " features; a row has at least one");
        if (parameter.row)
            check_num_features("'" + parameter.name + "'", workload.num_features);
        if (parameter.row && parameter.table && length % workload.num_features != 0)
            throw InputError("table '" + parameter.name + "' has " + std::to_string(length) +
                             " numbers, which make no rows of " + std::to_string(workload.num_features) +
                             " features; the length must be a multiple of that");
        if (parameter.row && !parameter.table && length % workload.num_features == 0 &&
            length / workload.num_features != segments.num_elements)
            throw InputError("'" + parameter.name + "' has " +
                             count_text(length / workload.num_features, "row") + ", but the layout covers " +
                             std::to_string(segments.num_elements) + "; both must agree");
        if (parameter.row && !parameter.table && length % workload.num_features != 0)
            throw InputError("'" + parameter.name + "' has " + count_text(length, "number") +
                             ", but the layout covers " + count_text(segments.num_elements, "row") + " of " +
                             count_text(workload.num_features, "feature") + "; both must agree");
        if (!parameter.table && !parameter.row && length != segments.num_elements)
            throw InputError("column '" + parameter.name + "' has " +
                             count_text(static_cast<std::int64_t>(array.length()), "element") +
                             ", but the layout covers " + std::to_string(segments.num_elements) +
                             "; both must agree");
    }
    check_segments(op, segments);
}

void check_segments(const Operator& op, const Segments& segments)
{
    if (!op.outputs.empty())
        refuse_shared_elements(segments, op.name);
    if (op.takes_empty_segments())
        return;
    if (const auto empty = first_empty(segments))
        throw InputError("segment " + std::to_string(*empty) + " is empty, and operator " + op.name +
                         " has no identity; " + advice_on_empty_segments(op));
}

}  // namespace segfold
