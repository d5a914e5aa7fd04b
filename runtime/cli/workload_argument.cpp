#include "runtime/cli/workload_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dsl/error.h"
#include "dsl/suggest.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/cli/generated_arrays.h"
#include "runtime/data/npz.h"
#include "runtime/judge/table_check.h"
#include "runtime/support/memory_at_hand.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
/// Items of which the host looks at every one; reads of tables by more are checked as they are made.
constexpr std::int64_t kCheckedAtOnce = std::int64_t{1} << 16;
constexpr std::array<std::string_view, 2> kWidths = {"32", "64"};

std::vector<std::string_view> parameter_names(const Operator& op)
{
    std::vector<std::string_view> names;
    for (const auto& parameter : op.parameters)
        names.push_back(parameter.name);
    return names;
}

const Parameter* find_parameter(const Operator& op, std::string_view name)
{
    const auto found = std::ranges::find(op.parameters, name, &Parameter::name);
    return found == op.parameters.end() ? nullptr : &*found;
}

/// "x=values.npy", or the file alone where there is one parameter.
std::pair<std::string, std::string> split_input(const Operator& op, const std::string& text)
{
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const bool is_named = equals != std::string::npos && (find_parameter(op, name) != nullptr ||
                                                          name.find_first_of("./") == std::string::npos);
    if (!is_named && op.parameters.size() == 1 && !text.empty())
        return {op.parameters[0].name, text};
    const auto names = parameter_names(op);
    if (!is_named)
        throw InputError(fmt::format(
            "--input '{}': operator {} has {} parameters; write NAME=FILE, where NAME is one of {}", text,
            op.name, names.size(), fmt::join(names, ", ")));
    if (find_parameter(op, name) == nullptr)
        throw InputError(fmt::format("--input '{}': operator {} has no parameter '{}'; it has {}{}", text,
                                     op.name, name, fmt::join(names, ", "), did_you_mean(name, names)));
    if (equals + 1 == text.size())
        throw InputError(fmt::format("--input '{}': the file is missing; write {}=FILE.npy", text, name));
    return {name, text.substr(equals + 1)};
}

/// Columns from files, all of one length; `num_elements` is set to it.
void read_inputs(const Operator& op, const WorkloadRequest& request, std::map<std::string, Array>& arrays,
                 std::optional<std::int64_t>& num_elements)
{
    std::string counted = num_elements ? "--elements says " : "";
    for (const auto& parameter : op.parameters) {
        const auto input = request.inputs.find(parameter.name);
        if (input == request.inputs.end())
            continue;
        auto array = read_array_as(input->second, parameter.type);
        const auto length = static_cast<std::int64_t>(array.length());
        if (!parameter.table) {
            if (num_elements && *num_elements != length)
                throw InputError(fmt::format("{}: column '{}' has {} elements, but {}{}; they must agree",
                                             input->second, parameter.name, length, counted, *num_elements));
            if (!num_elements)
                counted = fmt::format("column '{}' has ", parameter.name);
            num_elements = length;
        }
        arrays.emplace(parameter.name, std::move(array));
    }
}

/// The array as `type` where both are integers and every element fits; else as it is, for others to refuse.
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

void refuse_too_much(const Operator& op, std::int64_t num_elements)
{
    std::size_t element_bytes = 0;
    for (const auto& parameter : op.parameters)
        element_bytes += parameter.table ? 0 : size_bytes(parameter.type);
    require_memory(static_cast<double>(element_bytes) * static_cast<double>(num_elements),
                   fmt::format("{} elements of {} bytes each", num_elements, element_bytes));
}

/// The type that the values of a Matrix Market file are wanted in.
Type value_type(const Operator& op)
{
    if (const auto* value = find_parameter(op, "value"))
        return value->type;
    return op.parameters.size() == 1 ? op.parameters[0].type : Type::f32;
}

/// Columns that came with the layout, for parameters of their names; a single parameter takes the values.
void take_columns(const Operator& op, const Layout& layout, std::vector<NamedArray> columns,
                  std::map<std::string, Array>& arrays, std::map<std::string, std::string>& origins)
{
    for (auto& [name, array] : columns) {
        const auto* parameter = find_parameter(op, name);
        if (parameter == nullptr && name == "value" && op.parameters.size() == 1)
            parameter = &op.parameters[0];
        if (parameter == nullptr || parameter->table || arrays.contains(parameter->name))
            continue;
        arrays.emplace(parameter->name, convert_indices(std::move(array), parameter->type));
        origins[parameter->name] = fmt::format("{} ({})", layout.files.at(0), name);
    }
}

}  // namespace

std::map<std::string, std::string> input_files(const Arguments& arguments, const Operator& op)
{
    std::map<std::string, std::string> files;
    for (const auto& text : arguments.values("input")) {
        const auto [name, file] = split_input(op, text);
        if (!files.emplace(name, file).second)
            throw InputError(fmt::format("--input: '{}' is given twice, by '{}' and '{}'; once is enough",
                                         name, files[name], file));
    }
    return files;
}

WorkloadRequest workload_request(const Arguments& arguments, const Operator& op, bool with_inputs)
{
    WorkloadRequest request;
    if (const auto layout = arguments.value("layout"))
        request.layout = parse_layout(*layout);
    request.num_elements = arguments.integer("elements", 0, kMostElements);
    request.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, kLargestSeed).value_or(7));
    request.values = static_cast<ValueRange>(arguments.choice("values", kRangeNames).value_or(0));
    if (const auto width = arguments.choice("index-bits", kWidths))
        request.index_bits = *width == 0 ? 32 : 64;
    if (with_inputs)
        request.inputs = input_files(arguments, op);
    return request;
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

ValueRange agreeing_values(const Operator& op)
{
    bool is_wide = true;
    for (const auto& column : op.parameters) {
        if (!is_float(column.type) || column.table)
            return ValueRange::small_integers;
        is_wide = is_wide && size_bytes(column.type) > 2;
    }
    return is_wide || op.laws.idempotent ? ValueRange::uniform : ValueRange::units;
}

PreparedWorkload prepare_workload(const Operator& op, const WorkloadRequest& request)
{
    std::map<std::string, Array> arrays;
    std::map<std::string, std::string> origins = request.inputs;
    auto num_elements = request.num_elements;
    read_inputs(op, request, arrays, num_elements);

    const auto kind = request.layout.kind;
    if (!num_elements &&
        (kind == LayoutKind::whole || kind == LayoutKind::uniform || kind == LayoutKind::generated)) {
        // Whole segments only, so that a length alone is a complete request.
        const auto length = kind == LayoutKind::uniform ? request.layout.uniform_length : 1;
        num_elements = std::max<std::int64_t>(request.standard_elements / length, 1) * length;
    }
    if (num_elements)
        refuse_too_much(op, *num_elements);
    auto resolved = resolve(seeded(request.layout, request.seed), num_elements, value_type(op));
    if (request.index_bits)
        resolved.segments = with_index_bits(std::move(resolved.segments), *request.index_bits);
    take_columns(op, request.layout, std::move(resolved.columns), arrays, origins);

    origins.merge(complete_arrays(op, resolved.segments, {request.seed, request.values}, arrays));
    PreparedWorkload prepared{{op, {}, std::move(resolved.segments)}, {}};
    for (const auto& parameter : op.parameters) {
        prepared.workload.arrays.push_back(std::move(arrays.at(parameter.name)));
        prepared.origins.push_back(origins.at(parameter.name));
    }
    check_workload(prepared.workload);
    if (num_items(prepared.workload.segments) <= kCheckedAtOnce)
        check_tables(prepared.workload);
    return prepared;
}

}  // namespace segfold::cli
