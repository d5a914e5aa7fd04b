#include "runtime/cli/arguments/workload_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "dsl/error.h"
#include "dsl/message/suggest.h"
#include "dsl/message/visible.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/judge/value_text.h"
#include "runtime/support/text_table.h"

namespace segfold::cli {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::int64_t kMostFeatures = std::int64_t{1} << 20;
constexpr std::array<std::string_view, 2> kWidths = {"32", "64"};

/// Returns the names of the scalars if `scalars` is true, otherwise the names of the other parameters.
std::vector<std::string_view> parameter_names(const Operator& op, bool scalars)
{
    std::vector<std::string_view> names;
    for (const auto& parameter : op.parameters)
        if (parameter.scalar == scalars)
            names.push_back(parameter.name);
    return names;
}

const Parameter* find_parameter(const Operator& op, std::string_view name)
{
    const auto found = std::ranges::find(op.parameters, name, &Parameter::name);
    return found == op.parameters.end() ? nullptr : &*found;
}

/// Removes blanks around a value. They often come from scripts and have no meaning.
std::string without_blanks(std::string_view text)
{
    constexpr std::string_view kBlanks = " \t\r\n";
    const auto first = text.find_first_not_of(kBlanks);
    return first == text.npos ? std::string()
                              : std::string(text.substr(first, text.find_last_not_of(kBlanks) + 1 - first));
}

/// Throws InputError for an unknown name in --input. The message lists the parameters, and the flag for
/// scalars.
[[noreturn]] void refuse_name(const Operator& op, const std::string& text, const std::string& name)
{
    const auto inputs = parameter_names(op, false);
    const auto scalars = parameter_names(op, true);
    auto advice = did_you_mean(name, inputs);
    if (const auto meant = did_you_mean(name, scalars); advice.empty() && !meant.empty())
        advice = meant + " scalars are given by --scalar NAME=VALUE";
    throw InputError(fmt::format("--input '{}': operator {} has no input '{}'; it has {}{}", text, op.name,
                                 name, inputs.empty() ? "none" : fmt::format("{}", fmt::join(inputs, ", ")),
                                 advice));
}

/// Splits "x=values.npy" into name and file. If only one parameter is not a scalar, its name may be omitted.
std::pair<std::string, std::string> split_input(const Operator& op, const std::string& text)
{
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const bool is_named = equals != std::string::npos && (find_parameter(op, name) != nullptr ||
                                                          name.find_first_of("./") == std::string::npos);
    const auto names = parameter_names(op, false);
    if (!is_named && names.size() == 1 && !text.empty())
        return {std::string(names[0]), text};
    if (!is_named) {
        const auto form = names.size() == 1
                              ? fmt::format("{}=FILE", names[0])
                              : fmt::format("NAME=FILE, where NAME is one of {}", fmt::join(names, ", "));
        if (text.empty())
            throw InputError(fmt::format("--input '': neither a name nor a file is given; write {}", form));
        const auto num_scalars = static_cast<std::int64_t>(op.parameters.size() - names.size());
        throw InputError(fmt::format("--input '{}': operator {} has {}{}; write {}", text, op.name,
                                     count_text(static_cast<std::int64_t>(names.size()), "input"),
                                     num_scalars == 0 ? "" : " and " + count_text(num_scalars, "scalar"),
                                     form));
    }
    const auto* parameter = find_parameter(op, name);
    if (parameter == nullptr)
        refuse_name(op, text, name);
    if (equals + 1 == text.size())
        throw InputError(
            parameter->scalar
                ? fmt::format("--input '{0}': the value is missing; write --scalar {1}=VALUE", text, name)
                : fmt::format("--input '{}': the file is missing; write {}=FILE.npy", text, name));
    auto file = text.substr(equals + 1);
    // A scalar may be given by a file, but a plain number here is an error.
    if (double number = 0;
        parameter->scalar &&
        std::from_chars(file.data(), file.data() + file.size(), number).ptr == file.data() + file.size())
        throw InputError(
            fmt::format("--input '{0}': '{1}' is a scalar; write --scalar {1}={2}", text, name, file));
    return {name, std::move(file)};
}

}  // namespace

std::map<std::string, std::string> input_files(const Arguments& arguments, const Operator& op,
                                               bool passes_others)
{
    std::map<std::string, std::string> files;
    for (const auto& text : arguments.values("input")) {
        if (const auto equals = text.find('=');
            passes_others && equals != text.npos && find_parameter(op, text.substr(0, equals)) == nullptr)
            continue;
        const auto [name, file] = split_input(op, text);
        if (!files.emplace(name, file).second)
            throw InputError(fmt::format("--input: '{}' is given twice, by '{}' and '{}'; once is enough",
                                         name, files[name], file));
    }
    return files;
}

void refuse_to_overwrite_what_is_read(const Arguments& arguments, const Operator& op,
                                      const std::vector<std::string>& written)
{
    std::vector<std::pair<std::string, std::string>> read;  // pairs of a flag and the file that it reads
    for (const auto& [name, file] : input_files(arguments, op))
        read.emplace_back("input", file);
    const auto layout = arguments.value("layout").value_or("");
    for (auto at = layout.find('='); at != std::string::npos; at = layout.find(',', at + 1))
        read.emplace_back("layout", layout.substr(at + 1, layout.find(',', at + 1) - at - 1));
    if (arguments.has("labels"))
        read.emplace_back("labels", *arguments.value("labels"));
    for (auto& [flag, file] : read) {
        file = archive_place(file).path;
        for (const auto& path : written) {
            std::error_code none;  // set if a file does not exist
            if (std::filesystem::equivalent(path, file, none))
                throw InputError(
                    fmt::format("--output would replace '{}', which --{} reads; write another name",
                                visible(file), flag));
        }
    }
}

std::map<std::string, std::string> scalar_texts(const Arguments& arguments, std::span<const Operator> ops)
{
    std::map<std::string, std::string> values;
    std::vector<std::string_view> scalars;
    for (const auto& op : ops)
        for (const auto name : parameter_names(op, true))
            if (std::ranges::find(scalars, name) == scalars.end())
                scalars.push_back(name);
    const bool is_one = ops.size() == 1;
    const auto have = is_one ? fmt::format("operator {} has", ops.front().name) : "the operators have";
    for (const auto& text : arguments.values("scalar")) {
        const auto equals = text.find('=');
        const auto name = text.substr(0, equals);
        if (scalars.empty())
            throw InputError(
                fmt::format("--scalar '{}': {} no scalars; a parameter is declared as one by {}: scalar f32",
                            text, have, equals == text.npos || equals == 0 ? "threshold" : name));
        const auto value = equals == text.npos ? std::string() : without_blanks(text.substr(equals + 1));
        if (value.empty())
            throw InputError(fmt::format("--scalar '{}': the value is missing; write {}=15", text,
                                         name.empty() ? scalars[0] : name));
        if (std::ranges::find(scalars, name) == scalars.end())
            throw InputError(fmt::format("--scalar '{}': {} no scalar '{}'; {} {}{}", text, have, name,
                                         is_one ? "it has" : "they have", fmt::join(scalars, ", "),
                                         did_you_mean(name, scalars)));
        if (!values.emplace(name, value).second)
            throw InputError(fmt::format("--scalar: '{}' is given twice; once is enough", name));
    }
    return values;
}

std::map<std::string, std::string> scalar_texts(const Arguments& arguments, const Operator& op)
{
    return scalar_texts(arguments, std::span(&op, 1));
}

std::string given_scalar_text(const Parameter& scalar, const Array& value)
{
    return fmt::format("--scalar {}={}", scalar.name, value_text(value, 0));
}

std::string made_up_scalar_text(const Parameter& scalar, const Array& value, std::string_view origin)
{
    return fmt::format("{} ({}; --scalar {}=VALUE gives another)", value_text(value, 0), origin, scalar.name);
}

namespace {

/// True if --input, --scalar, or the matrix of --layout provides the parameter's data.
bool is_given(const Operator& op, const Parameter& parameter, const WorkloadRequest& request)
{
    return request.inputs.contains(parameter.name) || request.scalars.contains(parameter.name) ||
           (request.layout.kind == LayoutKind::rows && comes_with_rows(op, parameter));
}

/// Throws InputError if --input and --scalar both give the same scalar.
void refuse_scalars_given_twice(const WorkloadRequest& request)
{
    for (const auto& [name, value] : request.scalars)
        if (const auto input = request.inputs.find(name); input != request.inputs.end())
            throw InputError(
                fmt::format("'{0}' is given twice, by --input {0}={1} and --scalar {0}={2}; once is enough",
                            name, input->second, value));
}

/// Throws InputError if a flag about generated data is given but no data are generated.
void refuse_idle_flags(const Arguments& arguments, const Operator& op, const WorkloadRequest& request)
{
    const bool generates = std::ranges::any_of(
        op.parameters, [&](const Parameter& parameter) { return !is_given(op, parameter, request); });
    if (generates || op.parameters.empty())
        return;
    arguments.refuse("values", "is a range of generated values, and none are generated; leave it out");
    if (request.layout.kind != LayoutKind::generated)
        arguments.refuse("seed", "is of generated values and layouts, and none are generated; leave it out");
}

}  // namespace

WorkloadRequest workload_request(const Arguments& arguments, const Operator& op, bool with_inputs)
{
    WorkloadRequest request;
    if (const auto layout = arguments.value("layout"))
        request.layout = parse_layout(*layout);
    request.num_elements = arguments.integer("elements", 0, kMostElements);
    request.num_features = arguments.integer("features", 1, kMostFeatures);
    request.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, kLargestSeed).value_or(7));
    request.values = static_cast<ValueRange>(arguments.choice("values", kRangeNames).value_or(0));
    if (const auto width = arguments.choice("index-bits", kWidths))
        request.index_bits = *width == 0 ? 32 : 64;
    request.sorts_keys = arguments.has("sort-keys");
    if (request.layout.kind != LayoutKind::keys)
        arguments.refuse("sort-keys",
                         fmt::format("sorts by the keys of --layout keys=FILE, and the layout is "
                                     "{}; leave it out",
                                     print(request.layout)));
    request.layout.num_groups = arguments.integer("num-groups", 0, kMostElements);
    if (request.layout.kind != LayoutKind::groups)
        arguments.refuse("num-groups", fmt::format("is the number of groups of --layout groups=FILE, and the "
                                                   "layout is {}; leave it out",
                                                   print(request.layout)));
    if (arguments.declares("scalar"))
        request.scalars = scalar_texts(arguments, op);
    if (with_inputs) {
        request.inputs = input_files(arguments, op);
        refuse_scalars_given_twice(request);
        refuse_idle_flags(arguments, op, request);
    }
    // --elements requests generated elements unless a given column determines the number of elements.
    const bool is_asked = arguments.has("values") || (arguments.has("elements") && !gives_columns(request));
    request.generates = is_asked || (!gives_columns(request) && request.layout.files.empty());
    request.takes_inputs = with_inputs;
    // Reports missing scalars before any file is read, because no file could provide them.
    if (std::ranges::any_of(op.parameters, [&](const Parameter& parameter) {
            return parameter.scalar && !is_given(op, parameter, request);
        }))
        require_given_by_flags(op, request);
    return request;
}

void require_given_by_flags(const Operator& op, const WorkloadRequest& request)
{
    require_given(op, request, [&](const Parameter& parameter) { return is_given(op, parameter, request); });
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

}  // namespace segfold::cli
