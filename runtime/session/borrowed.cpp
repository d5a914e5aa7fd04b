#include "runtime/session/borrowed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "runtime/data/shape.h"
#include "runtime/session/grouped/grouped_inputs.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

/// True if require_address() accepts the array.
bool has_address(const void* data, std::int64_t length)
{
    return length >= 0 && length <= kMostLentElements && (data != nullptr || length == 0);
}

/// Borrows an array. `what` and `of` name it in messages, as in "the offsets" or "the elements of 'x'".
Array borrow(const ArrayView& view, std::string_view what, std::string_view of = {})
{
    const auto name = [&] { return of.empty() ? std::string(what) : fmt::format("{} of '{}'", what, of); };
    if (view.place == Place::device)
        throw InputError(
            fmt::format("{} lie on a device; fold takes arrays of the host: make a plan for those of "
                        "a device",
                        name()));
    if (!is_type(view.type))
        require_type(name(), view.type);
    if (!has_address(view.data, view.length))
        require_address(name(), view.data, view.length);
    return borrow(view);
}

Segments borrow_segments(const SegmentsView& view, std::int64_t num_elements, Array room)
{
    switch (view.kind) {
        case LayoutKind::whole: return whole_segments(num_elements);
        case LayoutKind::uniform: return uniform_segments(num_elements, view.uniform_length);
        case LayoutKind::offsets:
            return segments_from_offsets(borrow(view.first, "the offsets"), num_elements, std::move(room));
        case LayoutKind::lengths:
            return segments_from_lengths(borrow(view.first, "the lengths"), num_elements);
        case LayoutKind::ranges:
            return segments_from_ranges(borrow(view.first, "the begins"), borrow(view.second, "the ends"),
                                        num_elements);
        case LayoutKind::flags: return segments_from_flags(borrow(view.first, "the flags"), num_elements);
        case LayoutKind::keys: return segments_from_keys(borrow(view.first, "the keys"), num_elements);
        case LayoutKind::groups:
            if (view.group_order)
                refuse_layout(view.kind);
            if (view.first.length != num_elements)
                throw InputError(fmt::format("the numbers of groups are {} for {}; each element has one",
                                             view.first.length, count_text(num_elements, "element")));
            if (view.num_groups)
                return segments_from_unseen_groups(borrow(view.first, "the numbers of groups"),
                                                   *view.num_groups);
            return segments_from_groups(borrow(view.first, "the numbers of groups"), std::nullopt);
        default: refuse_layout(view.kind);
    }
}

/// Returns the greatest of length(0) .. length(count - 1); 0 if `count` is 0.
template <class Length>
std::int64_t greatest(std::int64_t count, Length length)
{
    std::int64_t longest = 0;
    for (std::int64_t s = 0; s < count; ++s)
        longest = std::max(longest, static_cast<std::int64_t>(length(s)));
    return longest;
}

/// Throws InputError if `room` is not memory on the host for `count` values of `type`.
void require_room(std::string_view what, const MutableArrayView& room, Type type, std::int64_t count)
{
    require_type(what, room.type);
    if (room.type != type || room.place != Place::host)
        throw InputError(fmt::format("{} are {} on the host, and the array for them holds {}{}", what,
                                     name(type), name(room.type),
                                     room.place == Place::device ? " on a device" : ""));
    if (room.length < count)
        throw InputError(fmt::format("{} are {}, and the array for them has room for {}", what,
                                     count_text(count, "value"), room.length));
    if (room.data == nullptr && count != 0)
        require_address(what, room.data, room.length);
}

template <class T>
std::int64_t longest_of(const SegmentsView& segments, std::int64_t count)
{
    const auto* const values = static_cast<const T*>(segments.first.data);
    if (segments.kind == LayoutKind::lengths)
        return greatest(count, [=](std::int64_t s) { return values[s]; });
    return greatest(count, [=](std::int64_t s) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(values[s + 1]) -
                                         static_cast<std::uint64_t>(values[s]));
    });
}

/// Returns an error message if `block`, the part called `part`, does not set exactly the fields `fields` in
/// their order; empty if it does. `kind` is the message's word for a field, such as "state field" or
/// "result".
template <class Fields>
std::string misfit_of_part(std::string_view part, const Block& block, const Fields& fields,
                           std::string_view kind)
{
    if (block.assignments.size() != fields.size())
        return fmt::format(
            "{} gives {}, and there {} {}", part, count_text(std::ssize(block.assignments), "value"),
            fields.size() == 1 ? "is" : "are", count_text(std::ssize(fields), std::string(kind)));
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (block.assignments[i].field != fields[i].name)
            return fmt::format("{} gives '{}' where the {} is '{}'", part, block.assignments[i].field, kind,
                               fields[i].name);
        if (!block.assignments[i].value.has_value())
            return fmt::format("{} has no expression for '{}'", part, fields[i].name);
    }
    for (const auto& let : block.lets)
        if (!let.value.has_value())
            return fmt::format("{} has no expression for '{}'", part, let.name);
    return "";
}

/// Returns the first name in an expression that `is_known` does not accept; null if there is none.
template <class IsKnown>
const std::string* unknown_name(const Expression& expression, const IsKnown& is_known)
{
    const bool is_named =
        expression->kind == ExpressionKind::name || expression->kind == ExpressionKind::gather;
    if (is_named && !is_known(expression->name))
        return &expression->name;
    for (const auto& argument : expression->arguments)
        if (const auto* name = unknown_name(argument, is_known))
            return name;
    return nullptr;
}

/// Returns the first undefined name in lift; null if there is none.
const std::string* unknown_in_lift(const Operator& op)
{
    const auto is_known = [&](const std::string& name) {
        return std::ranges::find(op.parameters, name, &Parameter::name) != op.parameters.end() ||
               std::ranges::find(op.lift.lets, name, &Let::name) != op.lift.lets.end() || name == "index" ||
               name == "position" || name == "segment";
    };
    for (const auto& let : op.lift.lets)
        if (const auto* name = unknown_name(let.value, is_known))
            return name;
    for (const auto& assignment : op.lift.assignments)
        if (const auto* name = unknown_name(assignment.value, is_known))
            return name;
    return nullptr;
}

/// Returns an error message if the parts of an operator do not fit together; empty if they fit. The parts of
/// an operator that passed check() fit.
std::string misfit_of(const Operator& op)
{
    std::string misfit;
    const auto look_at = [&](std::string_view part, const Block& block, const auto& fields,
                             std::string_view kind) {
        if (misfit.empty())
            misfit = misfit_of_part(part, block, fields, kind);
    };
    look_at("lift", op.lift, op.state, "state field");
    look_at("combine", op.combine, op.state, "state field");
    if (op.append)
        look_at("append", *op.append, op.state, "state field");
    if (op.finish)
        look_at("finish", *op.finish, op.results, "result");
    else if (op.results.size() != op.state.size())
        misfit =
            fmt::format("there are {} and {}, and no finish", count_text(std::ssize(op.state), "state field"),
                        count_text(std::ssize(op.results), "result"));
    if (op.empty)
        look_at("empty", *op.empty, op.results, "result");
    const auto outputs_set_by = [&](const Block& block) {
        std::vector<ResultField> fields;
        for (const auto place : output_places(op, block))
            if (place < op.outputs.size())
                fields.push_back(op.outputs[place]);
        return fields;
    };
    if (op.map)
        look_at("map", *op.map, op.scan ? outputs_set_by(*op.map) : op.outputs, "output");
    if (op.scan)
        look_at("scan", op.scan->block, op.map ? outputs_set_by(op.scan->block) : op.outputs, "output");
    if (!misfit.empty())
        return misfit;
    for (const auto& field : op.state)
        if (field.identity.has_value() != op.has_identity() ||
            (field.identity && !field.identity->has_value()))
            return fmt::format("the state field '{}' has no identity", field.name);
    if (const auto* name = unknown_in_lift(op))
        return fmt::format("lift reads '{}', and no parameter is called so", *name);
    return "";
}

}  // namespace

void refuse_layout(LayoutKind kind)
{
    if (kind == LayoutKind::groups)
        throw InputError(
            "groups in any order are given to calls, which sort copies of the columns; sort the columns by "
            "group "
            "once, and give offsets here");
    throw InputError(fmt::format(
        "segments by {} cannot be lent; lend whole, uniform, offsets, lengths, ranges, flags, keys or groups",
        name(kind)));
}

Segments found_segments(const SegmentsView& segments, std::int64_t num_elements)
{
    return borrow_segments(segments, num_elements, {});
}

std::optional<std::int64_t> longest_segment(const SegmentsView& segments, std::int64_t num_elements)
{
    if (segments.kind == LayoutKind::whole)
        return num_elements;
    if (segments.kind == LayoutKind::uniform)
        return segments.uniform_length;
    const bool is_offsets = segments.kind == LayoutKind::offsets;
    const auto& array = segments.first;
    if ((!is_offsets && segments.kind != LayoutKind::lengths) || array.place != Place::host ||
        array.length < 1 || (array.type != Type::i32 && array.type != Type::i64))
        return std::nullopt;
    const auto count = array.length - (is_offsets ? 1 : 0);
    if (!is_looked_at(count))
        return 0;
    const auto longest = array.type == Type::i32 ? longest_of<std::int32_t>(segments, count)
                                                 : longest_of<std::int64_t>(segments, count);
    return longest <= num_elements ? std::optional(longest) : std::nullopt;
}

std::optional<Shape> shape_of_ranges(const SegmentsView& segments, std::int64_t num_elements)
{
    for (const auto* bounds : {&segments.first, &segments.second})
        if (bounds->place != Place::host || bounds->data == nullptr)
            return std::nullopt;
    try {
        return shape_of(borrow_segments(segments, num_elements, {}));
    } catch (const InputError&) {
        return std::nullopt;  // the fold itself reports the error
    }
}

void require_longest(std::int64_t longest)
{
    if (longest < 0)
        throw InputError(
            fmt::format("longest is {}; it is the number of elements of the longest segment, or "
                        "0 where nobody knows",
                        longest));
}

void require_address(std::string_view what, const void* data, std::int64_t length)
{
    if (length < 0)
        throw InputError(fmt::format("{} have a length of {}; a length is not negative", what, length));
    if (length > kMostLentElements)
        throw InputError(fmt::format("{} have a length of {}; an array can have {} at most", what, length,
                                     kMostLentElements));
    if (data == nullptr && length != 0)
        throw InputError(fmt::format("{} have {} and no address", what, count_text(length, "element")));
}

void require_operator(const Operator& op)
{
    if (op.state.empty())
        throw InputError(fmt::format(
            "operator '{}' has no state, so that there is nothing to fold: it has been moved from, or was "
            "never defined; use the one that it was moved to, or define one",
            op.name));
    if (const auto misfit = misfit_of(op); !misfit.empty())
        throw InputError(
            fmt::format("operator '{}' does not fit together: {}; a part of it has been moved out or "
                        "changed, and parts can "
                        "be copied: define it anew by parse_operator() or define()",
                        op.name, misfit));
}

void require_inputs(const Operator& op, std::size_t count)
{
    require_operator(op);
    if (count == op.parameters.size())
        return;
    std::vector<std::string_view> names;
    for (const auto& parameter : op.parameters)
        names.push_back(parameter.name);
    throw InputError(fmt::format("operator {} takes {} array{} ({}), and {} {} given", op.name, names.size(),
                                 names.size() == 1 ? "" : "s", fmt::join(names, ", "), count,
                                 count == 1 ? "is" : "are"));
}

void store_found(const Segments& found, const SegmentsView& into)
{
    const bool has_keys = found.keys && is_lent(into.found_keys);
    const bool has_number = is_found(found.form) && is_lent(into.num_found);
    if (has_keys)
        require_room("found_keys", into.found_keys, found.keys->type(), found.num_segments);
    if (has_number)
        require_room("num_found", into.num_found, found.index_type(), 1);
    if (has_keys && found.keys->bytes() != 0)
        std::memcpy(into.found_keys.data, found.keys->data(), found.keys->bytes());
    if (has_number && into.num_found.type == Type::i64)
        std::memcpy(into.num_found.data, &found.num_segments, sizeof found.num_segments);
    if (has_number && into.num_found.type == Type::i32) {
        const auto narrow = static_cast<std::int32_t>(found.num_segments);
        std::memcpy(into.num_found.data, &narrow, sizeof narrow);
    }
}

void require_numbers(const Operator& op, const Parameter& parameter, const ArrayView& input)
{
    if (input.num_features != 1)
        throw InputError(
            fmt::format("'{}' of operator {} takes numbers, and is lent as rows of {}; lend the "
                        "array without rows_of(), or declare the parameter as a row: {}: row {}",
                        parameter.name, op.name, count_text(input.num_features, "feature"), parameter.name,
                        name(parameter.type)));
}

std::int64_t num_features_of(const Operator& op, std::span<const ArrayView> inputs)
{
    std::int64_t features = 0;
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const auto given = inputs[i].num_features;
        if (!parameter.row) {
            require_numbers(op, parameter, inputs[i]);
            continue;
        }
        if (given < 1 || inputs[i].length % given != 0)
            throw InputError(fmt::format(
                "'{}' has {}, which make no rows of {}; lend it as rows_of(array, K)", parameter.name,
                count_text(inputs[i].length, "number"), count_text(given, "feature")));
        if (features != 0 && given != features)
            throw InputError(fmt::format("'{}' has rows of {}, and other parameters have {}; they must agree",
                                         parameter.name, count_text(given, "feature"), features));
        features = given;
    }
    return features == 0 ? 1 : features;
}

std::int64_t num_elements_of(const Operator& op, std::span<const ArrayView> inputs,
                             const SegmentsView& segments)
{
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        if (!op.parameters[i].table)
            return op.parameters[i].row ? inputs[i].length / num_features_of(op, inputs) : inputs[i].length;
    if (segments.kind == LayoutKind::flags || segments.kind == LayoutKind::keys ||
        segments.kind == LayoutKind::groups)
        return segments.first.length;
    throw InputError(fmt::format("operator {} has no column that says how many elements there are", op.name));
}

Segments borrow_segments(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                         std::int64_t num_features, Array room)
{
    try {
        return borrow_segments(segments, num_elements, std::move(room));
    } catch (const InputError& error) {
        if (!has_rows(op) || num_features != 1)
            throw;
        throw InputError(
            fmt::format("{}; operator {} takes rows, and each of its {} has one number: rows_of(array, K) "
                        "lends rows of K",
                        error.what(), op.name, count_text(num_elements, "row")));
    }
}

Workload borrow_as_they_lie(const Operator& op, std::span<const ArrayView> inputs,
                            const SegmentsView& segments)
{
    require_inputs(op, inputs.size());
    Workload workload{op, {}, {}, num_features_of(op, inputs)};
    for (std::size_t i = 0; i < inputs.size(); ++i)
        workload.arrays.push_back(borrow(inputs[i], "the elements", op.parameters[i].name));
    workload.segments =
        borrow_segments(op, segments, num_elements_of(op, inputs, segments), workload.num_features);
    return workload;
}

Workload borrow_workload(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments)
{
    if (segments.kind != LayoutKind::groups)
        return borrow_as_they_lie(op, inputs, segments);
    auto grouped = group_inputs(op, inputs, segments);
    return {grouped.with_index ? *std::move(grouped.with_index) : op, std::move(grouped.arrays),
            grouped.order->take_segments(), num_features_of(op, inputs)};
}

}  // namespace segfold
