#include "runtime/cli/arguments/input_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dsl/error.h"
#include "dsl/layout.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/data/formats/csv.h"
#include "runtime/data/formats/matrix_market.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/formats/written_array.h"
#include "runtime/support/files/file.h"

namespace segfold::cli {
namespace {

/// Returns an operator with only a name and parameters, which suffice to read --input.
Operator outline(const std::string& name, const std::vector<DeclaredParameter>& parameters)
{
    Operator op;
    op.name = name;
    for (const auto& parameter : parameters)
        op.parameters.push_back(
            {parameter.name, parameter.type.value_or(Type::f32), parameter.table, {}, parameter.scalar});
    return op;
}

/// Returns the types in which an input file can be read. Integers in a CSV file can also be read as f64.
std::vector<Type> types_of_file(const std::string& place, Type type)
{
    if (is_csv_file(archive_place(place).path) && is_integer(type))
        return {type, Type::f64};
    return {type};
}

/// Returns the types in which the values of --layout's Matrix Market file can be read. Returns nothing if no
/// parameter of type T takes its values from the matrix.
std::optional<InputType> type_of_matrix(const Arguments& arguments, const Operator& op,
                                        const std::vector<DeclaredParameter>& parameters)
{
    const auto text = arguments.declares("layout") ? arguments.value("layout") : std::nullopt;
    // Some verbs also accept a bare word such as `offsets`, which parse_layout() would refuse.
    if (!text || !text->starts_with("rows="))
        return std::nullopt;
    const auto layout = parse_layout(*text);
    bool takes_values = false;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        takes_values = takes_values || (!parameters[i].type && parameters[i].name != "column" &&
                                        comes_with_rows(op, op.parameters[i]));
    if (!takes_values)
        return std::nullopt;
    const auto& file = layout.files.at(0);
    if (naming_purpose("for --layout rows", [&] { return holds_integers(file); }))
        return InputType{{Type::i64, Type::f32}, file};
    return InputType{{Type::f32}, file};
}

}  // namespace

std::optional<InputType> type_of_inputs(const Arguments& arguments, const std::string& operator_name,
                                        const std::vector<DeclaredParameter>& parameters)
{
    const auto is_open = [](const auto& parameter) { return !parameter.type; };
    if (std::ranges::none_of(parameters, is_open))
        return std::nullopt;
    // Even without --input, the matrix in --layout may determine T. Then emit and check see the same plan as
    // a run with this matrix.
    const auto op = outline(operator_name, parameters);
    const bool is_factor =
        !arguments.operands().empty() && arguments.operands()[0].find('&') != std::string::npos;
    const auto files = arguments.declares("input") ? input_files(arguments, op, is_factor)
                                                   : std::map<std::string, std::string>();
    std::optional<InputType> found;
    std::string first;
    for (const auto& parameter : parameters) {
        const auto file = files.find(parameter.name);
        if (parameter.type || file == files.end() || is_written_array(file->second))
            continue;
        const Type type =
            naming_purpose("for --input " + parameter.name, [&] { return read_array_type(file->second); });
        auto candidates = types_of_file(file->second, type);
        if (found)
            std::erase_if(candidates, [&](Type one) {
                return std::ranges::find(found->candidates, one) == found->candidates.end();
            });
        if (candidates.empty())
            throw InputError(
                fmt::format("{}: holds {} for '{}', but {} holds {} for '{}'; operator {} takes both in one "
                            "type: save one "
                            "of them with array.astype",
                            file->second, name(type), parameter.name, found->file, name(found->candidates[0]),
                            first, operator_name));
        if (!found)
            first = parameter.name;
        found = InputType{std::move(candidates), found ? found->file : file->second};
    }
    return found ? found : type_of_matrix(arguments, op, parameters);
}

}  // namespace segfold::cli
