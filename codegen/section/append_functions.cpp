#include "codegen/section/append_functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "codegen/print/cuda_names.h"
#include "dsl/check/append.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, 3> kPlaces = {"index", "position", "segment"};

std::string device_function(const std::string& head, const std::string& body)
{
    return fmt::format("__device__ __forceinline__ State {}\n{{\n{}}}\n", head, body);
}

}  // namespace

bool has_append(const Operator& op) { return op.append && !lift_reads_tables(op); }

bool append_uses(const Operator& op, const Parameter& parameter)
{
    const auto& block = op.has_identity() ? *op.append : op.lift;
    const auto reads = [&](const auto& said) { return gathers(said.value, parameter.name); };
    return parameter.table
               ? std::ranges::any_of(block.lets, reads) || std::ranges::any_of(block.assignments, reads)
               : uses_name(block, parameter.name);
}

bool append_uses(const Operator& op, std::string_view place)
{
    return uses_name(op.has_identity() ? *op.append : op.lift, place);
}

std::string as_argument(const Parameter& parameter)
{
    return fmt::format("{}{}{} {}", parameter.table ? "const " : "", cuda_name(parameter.type),
                       parameter.table ? "*" : "", cuda_identifier(parameter.name));
}

std::string append_function(const Operator& op, const std::string& present, const std::string& body)
{
    const auto earlier = cuda_identifier(op.earlier);
    std::vector<std::string> parameters = {"State " + earlier};
    std::vector<std::string> lifted;
    for (const auto& parameter : op.parameters)
        if (append_uses(op, parameter)) {
            parameters.push_back(as_argument(parameter));
            lifted.push_back(cuda_identifier(parameter.name));
        }
    for (const auto place : kPlaces)
        if (append_uses(op, place)) {
            parameters.push_back(fmt::format("Index {}", place));
            lifted.emplace_back(place);
        }
    const auto guard = op.has_identity() ? ""
                                         : fmt::format("    if (!{}.{})\n        return lift({});\n", earlier,
                                                       present, fmt::join(lifted, ", "));
    return fmt::format("// combine({}, lift(...)) in fewer steps.\n", earlier) +
           device_function(fmt::format("append({})", fmt::join(parameters, ", ")), guard + body);
}

std::string element_struct(const Operator& op)
{
    std::string text = "// What append() takes of an element's columns.\nstruct Element {\n";
    for (const auto& parameter : op.parameters)
        if (!parameter.table && append_uses(op, parameter))
            text += fmt::format("    {} {};\n", cuda_name(parameter.type), cuda_identifier(parameter.name));
    return text + "};\n";
}

std::string load_element_function(const Operator& op)
{
    std::vector<std::string> loaded;
    for (const auto& parameter : op.parameters)
        if (!parameter.table && append_uses(op, parameter))
            loaded.push_back(fmt::format("inputs.{}[index]", cuda_identifier(parameter.name)));
    return fmt::format(
        "__device__ __forceinline__ Element load_element(const Inputs&{}, Index{})\n{{\n    return "
        "{{{}}};\n}}\n",
        loaded.empty() ? "" : " inputs", loaded.empty() ? "" : " index", fmt::join(loaded, ", "));
}

std::string append_element_function(const Operator& op)
{
    std::vector<std::string> arguments = {"run"};
    std::string inputs, element, places;
    for (const auto& parameter : op.parameters)
        if (append_uses(op, parameter)) {
            (parameter.table ? inputs : element) = parameter.table ? " inputs" : " element";
            arguments.push_back((parameter.table ? "inputs." : "element.") + cuda_identifier(parameter.name));
        }
    for (const auto place : kPlaces) {
        const bool is_used = append_uses(op, place);
        if (is_used)
            arguments.emplace_back(place);
        places += is_used ? fmt::format(", Index {}", place) : ", Index";
    }
    return "// The run with an element behind it, which is at `index` of the input and at `position` of "
           "`segment`.\n" +
           device_function(fmt::format("append_element(State run, const Inputs&{}, const Element&{}{})",
                                       inputs, element, places),
                           fmt::format("    return append({});\n", fmt::join(arguments, ", ")));
}

}  // namespace segfold
