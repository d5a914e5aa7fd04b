#include "codegen/section/columns_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/print/cuda_names.h"

namespace segfold {

std::vector<Piece> columns_section(const Operator& op)
{
    std::string fields;
    std::vector<std::string> loaded;
    std::vector<std::string> arguments;
    bool reads_tables = false;
    for (const auto& parameter : op.parameters) {
        if (!lift_uses(op, parameter))
            continue;
        const auto name = cuda_identifier(parameter.name);
        arguments.push_back((parameter.table ? "inputs." : "columns.") + name);
        reads_tables |= parameter.table;
        if (parameter.table)
            continue;
        fields += fmt::format("    {} {};\n", cuda_name(parameter.type), name);
        loaded.push_back(fmt::format("inputs.{}[index]", name));
    }
    if (loaded.empty())
        return {};

    std::vector<Piece> pieces;
    const auto add = [&](const char* name, const std::string& text) {
        pieces.push_back({name, text, Piece::Kind::declaration});
    };
    const auto add_function = [&](const char* name, const std::string& head,
                                  const std::vector<std::string>& given, const char* returned) {
        add(name, fmt::format("__device__ __forceinline__ {}\n{{\n    return {};\n}}\n", head,
                              fmt::format(fmt::runtime(returned), fmt::join(given, ", "))));
    };
    add("Columns",
        "// An element's values of the columns that lift() reads.\nstruct Columns {\n" + fields + "};\n");
    add_function("load_columns", "Columns load_columns(const Inputs& inputs, Index index)", loaded, "{{{}}}");
    if (uses_name(op.lift, "index") || uses_name(op.lift, "position"))
        return pieces;
    const bool uses_segment = uses_name(op.lift, "segment");
    if (uses_segment)
        arguments.emplace_back("segment");
    add_function("lift_columns",
                 fmt::format("State lift_columns(const Inputs&{}, const Columns& columns, Index{})",
                             reads_tables ? " inputs" : "", uses_segment ? " segment" : ""),
                 arguments, "lift({})");
    return pieces;
}

}  // namespace segfold
