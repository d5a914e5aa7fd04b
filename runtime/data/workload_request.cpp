#include "runtime/data/workload_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/evaluation/evaluator.h"
#include "dsl/message/visible.h"
#include "dsl/rewrite/index_column.h"
#include "dsl/text/parser.h"
#include "runtime/data/data_ranges.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/formats/number_text.h"
#include "runtime/data/formats/written_array.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/data/groups.h"
#include "runtime/data/key_order.h"
#include "runtime/support/files/file.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

const Parameter* find_parameter(const Operator& op, std::string_view name)
{
    const auto found = std::ranges::find(op.parameters, name, &Parameter::name);
    return found == op.parameters.end() ? nullptr : &*found;
}

/// Reads columns from files. All columns must have the same length, which `num_elements` receives.
void read_inputs(const Operator& op, const WorkloadRequest& request, std::map<std::string, Array>& arrays,
                 std::optional<std::int64_t>& num_elements, std::optional<std::int64_t>& num_features)
{
    std::string counted_features = num_features ? "--features says " : "";
    std::string counted = num_elements ? "--elements says " : "";
    for (const auto& parameter : op.parameters) {
        if (const auto scalar = request.scalars.find(parameter.name); scalar != request.scalars.end())
            arrays.emplace(parameter.name, scalar_array(parameter, scalar->second));
        const auto input = request.inputs.find(parameter.name);
        if (input == request.inputs.end())
            continue;
        auto array = naming_purpose("for --input " + parameter.name, [&] {
            return parameter.row ? read_rows_as(input->second, parameter.type)
                                 : read_array_as(input->second, parameter.type);
        });
        if (parameter.scalar)
            require_one_value(parameter, input->second, array);
        auto length = static_cast<std::int64_t>(array.length());
        if (parameter.row) {
            const auto features = static_cast<std::int64_t>(array.row_length());
            if (num_features && *num_features != features)
                throw InputError(fmt::format("{}: '{}' has rows of {}, but {}{}; they must agree",
                                             input->second, parameter.name, count_text(features, "feature"),
                                             counted_features, *num_features));
            if (!num_features)
                counted_features = fmt::format("those of '{}' have ", parameter.name);
            num_features = features;
            length /= features;
        }
        if (!parameter.table) {
            if (num_elements && *num_elements != length)
                throw InputError(fmt::format("{}: column '{}' has {}, but {}{}; they must agree",
                                             input->second, parameter.name, count_text(length, "element"),
                                             counted, *num_elements));
            if (!num_elements)
                counted = fmt::format("column '{}' has ", parameter.name);
            num_elements = length;
        }
        arrays.emplace(parameter.name, std::move(array));
    }
}

/// Widens i32 to i64, u32 or u64 if `type` is one of these types. Leaves other arrays unchanged; later checks
/// refuse them if their type is wrong.
Array convert_indices(Array array, Type type)
{
    const bool widens =
        array.type() == Type::i32 && (type == Type::i64 || type == Type::u32 || type == Type::u64);
    if (!widens)
        return array;
    Array wide(type, array.length());
    const auto from = array.as<std::int32_t>();
    for (std::size_t i = 0; i < from.size(); ++i)
        if (size_bytes(type) == sizeof(std::int64_t))
            wide.as<std::int64_t>()[i] = from[i];
        else
            wide.as<std::int32_t>()[i] = from[i];
    return wide;
}

/// Returns the bytes per element of all columns that are still missing.
double bytes_of_element(const Operator& op, const std::map<std::string, Array>& arrays,
                        std::int64_t num_features)
{
    double bytes = 0;
    for (const auto& parameter : op.parameters)
        if (!parameter.table && !arrays.contains(parameter.name))
            bytes += static_cast<double>(size_bytes(parameter.type)) *
                     static_cast<double>(parameter.row ? num_features : 1);
    return bytes;
}

/// Throws InputError if memory does not suffice for the missing columns.
void refuse_many_elements(const Operator& op, const std::map<std::string, Array>& arrays,
                          std::int64_t num_elements, std::int64_t num_features)
{
    const double bytes = bytes_of_element(op, arrays, num_features);
    require_memory(bytes * static_cast<double>(num_elements),
                   fmt::format("{} elements of {} each", num_elements,
                               count_text(static_cast<std::int64_t>(bytes), "byte")));
}

/// Throws InputError if memory does not suffice for these columns and the results. Counts bytes as doubles,
/// because a layout may request more than 64 bits can count.
void refuse_many_results(const Operator& op, const std::map<std::string, Array>& arrays,
                         const Segments& segments, std::int64_t num_features)
{
    const auto bytes_of = [&](const std::vector<ResultField>& fields) {
        double bytes = 0;
        for (const auto& field : fields)
            bytes += static_cast<double>(size_bytes(field.type)) * static_cast<double>(num_features);
        return bytes;
    };
    const double of_element = bytes_of_element(op, arrays, num_features) + bytes_of(op.outputs);
    const double of_segment = op.keeps_results ? bytes_of(op.results) : 0;
    const auto many = [](std::int64_t count, const char* of, double bytes) {
        return fmt::format("{} {} {} each", count, of, count_text(static_cast<std::int64_t>(bytes), "byte"));
    };
    std::string what;
    if (of_element > 0)
        what = many(segments.num_elements, "elements of", of_element);
    if (of_segment > 0)
        what += (what.empty() ? "" : " and ") + many(segments.num_segments, "results of", of_segment);
    require_memory(of_element * static_cast<double>(segments.num_elements) +
                       of_segment * static_cast<double>(segments.num_segments),
                   what);
}

/// Returns the column that receives the values of a Matrix Market file; null if there is none.
const Parameter* taker_of_values(const Operator& op)
{
    const auto is_column = [](const Parameter& parameter) { return !parameter.table; };
    const auto* named = find_parameter(op, "value");
    if (named != nullptr && is_column(*named))
        return named;
    const auto only = std::ranges::find_if(op.parameters, is_column);
    return std::ranges::count_if(op.parameters, is_column) == 1 && only->name != "column" ? &*only : nullptr;
}

/// Returns the type in which the values of a Matrix Market file are read.
Type type_of_values(const Operator& op)
{
    const auto* taker = taker_of_values(op);
    return taker != nullptr ? taker->type : Type::f32;
}

/// Assigns the columns of the layout's file to those parameters that have no array yet.
void take_columns(const Operator& op, const Layout& layout, std::vector<NamedArray> columns,
                  std::map<std::string, Array>& arrays, std::map<std::string, std::string>& origins)
{
    for (auto& [name, array] : columns) {
        const auto* parameter = name == "value" ? taker_of_values(op) : find_parameter(op, name);
        if (parameter == nullptr || parameter->table || arrays.contains(parameter->name))
            continue;
        arrays.emplace(parameter->name, convert_indices(std::move(array), parameter->type));
        origins[parameter->name] = fmt::format("{} ({})", layout.files.at(0), name);
    }
}

/// Sorts the elements of the columns in `arrays` into the order of `places`.
void move_columns(const Operator& op, const Array& places, std::map<std::string, Array>& arrays)
{
    for (const auto& parameter : op.parameters)
        if (const auto column = arrays.find(parameter.name); column != arrays.end() && !parameter.table)
            column->second = taken_at(column->second, places);
}

}  // namespace

Array scalar_array(const Parameter& parameter, const std::string& text)
{
    try {
        if (auto number = read_written_number(text, parameter.type))
            return std::move(*number);
    } catch (const InputError& error) {
        throw InputError(fmt::format("--scalar {}={}: {}", parameter.name, text, error.what()));
    }
    // In a number, ^ is a power. In an expression, it would be an exclusive or.
    if (text.find('^') != text.npos)
        throw InputError(fmt::format(
            "--scalar {0}={1}: in '{1}' ^ may be a power or an exclusive or; it is a power in a whole number "
            "alone, as {0}=2^10; write the value itself, without ^",
            parameter.name, text));
    const auto written = fmt::format(
        "operator scalar(x: {0}) -> {0} {{ state value: {0} = {1}\nlift x\n"
        "combine(a, b) a }}",
        name(parameter.type), text);
    try {
        const auto bytecode = compile_bytecode(parse_operator("--scalar", written));
        Evaluator<double> evaluator(bytecode);
        Slot<double> value{};
        evaluator.identity(&value);
        Array array(parameter.type, 1);
        Machine<double>::store(value, parameter.type, array.data(), 0);
        return array;
    } catch (const SpecError&) {
        throw InputError(fmt::format(
            "--scalar {0}={1}: '{1}' is no value of type {2}{3}", parameter.name, text, name(parameter.type),
            is_integer(parameter.type) ? ", which holds integers from " + range_text(parameter.type) : ""));
    }
}

ScalarValues given_scalars(const Operator& op, const std::map<std::string, std::string>& texts)
{
    ScalarValues values;
    for (const auto& parameter : op.parameters) {
        const auto text = texts.find(parameter.name);
        if (parameter.scalar)
            values.push_back(text == texts.end()
                                 ? std::nullopt
                                 : std::optional(value_at(scalar_array(parameter, text->second), 0)));
    }
    return std::ranges::any_of(values, &std::optional<FieldValue>::has_value) ? values : ScalarValues();
}

void require_one_value(const Parameter& scalar, const std::string& place, const Array& array)
{
    if (array.length() != 1)
        throw InputError(
            fmt::format("--input {0}={1}: '{0}' is a scalar, and its array has {2}; give one value, or "
                        "--scalar {0}=VALUE",
                        scalar.name, place, count_text(static_cast<std::int64_t>(array.length()), "value")));
}

bool gives_columns(const WorkloadRequest& request)
{
    return !request.inputs.empty() || request.layout.kind == LayoutKind::rows;
}

std::string what_is_given(const WorkloadRequest& request)
{
    const auto& [name, place] =
        request.inputs.empty() ? std::pair(std::string("--layout "), print(request.layout))
                               : std::pair(request.inputs.begin()->first, request.inputs.begin()->second);
    const bool is_written = is_written_array(request.inputs.empty() ? request.layout.files.at(0) : place);
    return request.inputs.empty()
               ? fmt::format("{}{} {}", name, visible(place), is_written ? "is given" : "reads a file")
               : fmt::format("'{}' {}", name, is_written ? "is given" : "comes from a file");
}

void require_given(const Operator& op, const WorkloadRequest& request,
                   const std::function<bool(const Parameter&)>& is_given)
{
    std::vector<std::string> names, flags;
    bool are_scalars = true, is_scalar_among = false;
    for (const auto& parameter : op.parameters) {
        const bool may_generate = request.generates && !(parameter.scalar && gives_columns(request));
        if (may_generate || is_given(parameter))
            continue;
        are_scalars = are_scalars && parameter.scalar;
        is_scalar_among = is_scalar_among || parameter.scalar;
        names.push_back(fmt::format("'{}'", parameter.name));
        if (parameter.scalar)
            flags.push_back(fmt::format("--scalar {}=VALUE", parameter.name));
        else if (request.takes_inputs)
            flags.push_back(fmt::format("--input {}=FILE.npy", parameter.name));
    }
    if (names.empty())
        return;
    if (!request.takes_inputs && !are_scalars)
        flags.clear();
    auto ways = fmt::format("{}", fmt::join(flags, " "));
    if (!request.generates && !(is_scalar_among && gives_columns(request)))
        ways += fmt::format("{}--values RANGE, which asks for generated values", ways.empty() ? "" : ", or ");
    throw InputError(fmt::format("{} of operator {} {} no {}, and {}; give {}", fmt::join(names, ", "),
                                 op.name, names.size() == 1 ? "has" : "have",
                                 are_scalars ? "value" : "values", what_is_given(request), ways));
}

bool comes_with_rows(const Operator& op, const Parameter& parameter)
{
    return !parameter.table && (parameter.name == "column" || &parameter == taker_of_values(op));
}

Layout seeded(Layout layout, std::uint64_t seed)
{
    if (layout.kind != LayoutKind::generated)
        return layout;
    for (const auto& distribution : distributions())
        if (distribution.name == layout.distribution &&
            std::ranges::find(distribution.parameters, "seed", &DistributionParameter::name) !=
                distribution.parameters.end())
            layout.parameters.try_emplace("seed", static_cast<double>(seed));
    return layout;
}

std::int64_t generated_features(const Operator& op, std::optional<std::int64_t> asked)
{
    constexpr std::int64_t kStandardFeatures = 8;
    return has_rows(op) ? asked.value_or(kStandardFeatures) : 1;
}

PreparedWorkload make_workload(const Operator& asked, const WorkloadRequest& request)
{
    auto op = asked;
    std::map<std::string, Array> arrays;
    std::map<std::string, std::string> origins = request.inputs;
    auto num_elements = request.num_elements;
    auto num_features = request.num_features;
    if (num_features && !has_rows(op))
        throw InputError(fmt::format("--features {}: operator {} has no parameter of rows (NAME: row TYPE)",
                                     *num_features, op.name));
    read_inputs(op, request, arrays, num_elements, num_features);
    const auto row_length = generated_features(op, num_features);

    const auto kind = request.layout.kind;
    if (!num_elements &&
        (kind == LayoutKind::whole || kind == LayoutKind::uniform || kind == LayoutKind::generated)) {
        // Round down to whole segments, but to at least one segment, so that a segment length is a sufficient
        // request.
        const auto length = kind == LayoutKind::uniform ? request.layout.uniform_length : 1;
        num_elements = std::max<std::int64_t>(request.standard_elements / length, 1) * length;
    }
    if (num_elements)
        refuse_many_elements(op, arrays, *num_elements, row_length);
    auto resolved = resolve(seeded(request.layout, request.seed), num_elements, type_of_values(op));
    std::optional<Array> places;
    const auto move_elements = [&] {
        if (!places)
            return;
        move_columns(op, *places, arrays);
        if (reads_index(op)) {
            op = with_index_column(std::move(op));
            arrays.emplace(op.parameters.back().name, convert_indices(places->copy(), Type::i64));
            origins[op.parameters.back().name] = "positions before the sort";
        }
    };
    if (request.sorts_keys) {
        places = sorted_places(resolved.segments.item_keys);
        if (places)
            resolved.segments = segments_from_keys(taken_at(resolved.segments.item_keys, *places),
                                                   resolved.segments.num_elements);
        move_elements();
    }
    const auto sort_groups = [&] {
        const auto& groups = resolved.segments;
        if (groups.form != SegmentForm::groups || (request.takes_groups && request.takes_groups(op, groups)))
            return;
        GroupOrder order(groups.numbers, groups.num_segments);
        if (order.moves())
            places = order.places();
        resolved.segments = order.take_segments();
        move_elements();
    };
    if (request.recast) {
        sort_groups();
        resolved.segments = request.recast(std::move(resolved.segments));
    }
    const auto set_index_bits = [&] {
        if (request.index_bits)
            resolved.segments = with_index_bits(std::move(resolved.segments), *request.index_bits);
    };
    set_index_bits();
    take_columns(op, request.layout, std::move(resolved.columns), arrays, origins);
    try {
        refuse_many_elements(op, arrays, resolved.segments.num_elements, row_length);
        refuse_many_results(op, arrays, resolved.segments, row_length);
    } catch (const InputError& error) {
        throw InputError(fmt::format("layout '{}': {}", print(request.layout), error.what()));
    }

    require_given(op, request, [&](const Parameter& parameter) { return arrays.contains(parameter.name); });
    origins.merge(complete_arrays(op, resolved.segments, {request.seed, request.values, row_length}, arrays));
    if (!request.recast) {
        sort_groups();  // last, so that generated elements do not depend on the sorting
        set_index_bits();
    }
    PreparedWorkload prepared{{op, {}, std::move(resolved.segments), row_length}, {}, std::move(places)};
    for (const auto& [parameter, value] : request.scalars)
        origins[parameter] = "--scalar " + parameter + "=" + value;
    for (const auto& parameter : op.parameters) {
        prepared.workload.arrays.push_back(std::move(arrays.at(parameter.name)));
        prepared.origins.push_back(origins.at(parameter.name));
    }
    check_workload(prepared.workload);
    return prepared;
}

}  // namespace segfold
