#include "runtime/cli/stream_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/data/generated_arrays.h"

namespace segfold::cli {
namespace {

std::unique_ptr<ArraySource> open(const std::string& path, std::optional<Type> type)
{
    if (!path.ends_with(".npy"))
        throw InputError(
            fmt::format("{}: only .npy files are read in parts; save the array with numpy.save, or "
                        "leave --memory out",
                        path));
    return npy_source(path, type);
}

SegmentSource open_layout(const Layout& layout, std::optional<std::int64_t> num_elements,
                          std::shared_ptr<const Segments>& made)
{
    SegmentSource source{layout.kind, layout.uniform_length};
    switch (layout.kind) {
        case LayoutKind::whole:
        case LayoutKind::uniform:
            return source;
        case LayoutKind::offsets:
        case LayoutKind::lengths:
        case LayoutKind::flags:
        case LayoutKind::keys:
            source.array = open(layout.files.at(0), {});
            return source;
        case LayoutKind::generated:
            made = std::make_shared<const Segments>(resolve(layout, num_elements).segments);
            source.kind = LayoutKind::offsets;
            source.array = memory_source(made->offsets);
            return source;
        default:
            throw InputError(
                fmt::format("--layout '{}' cannot be read in parts; whole, uniform, offsets, lengths, "
                            "flags and keys can",
                            print(layout)));
    }
}

}  // namespace

PreparedStream stream_input(const Operator& op, const WorkloadRequest& request)
{
    PreparedStream prepared;
    auto num_elements = request.num_elements;
    auto& sources = prepared.input.parameters;
    for (const auto& parameter : op.parameters) {
        sources.emplace_back();
        prepared.origins.emplace_back();
        const auto file = request.inputs.find(parameter.name);
        if (file == request.inputs.end())
            continue;
        sources.back() = open(file->second, parameter.type);
        prepared.origins.back() = file->second;
        if (!parameter.table && !num_elements)
            num_elements = sources.back()->length();
    }
    const bool counts = request.layout.kind == LayoutKind::flags || request.layout.kind == LayoutKind::keys;
    if (!num_elements && counts)
        num_elements = open(request.layout.files.at(0), {})->length();
    if (!num_elements)
        num_elements = request.standard_elements;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto& parameter = op.parameters[i];
        if (sources[i])
            continue;
        const auto uses = table_uses(op);
        const bool is_index = std::ranges::any_of(uses, [&](const TableUse& use) {
            return use.index == parameter.name || use.table == parameter.name;
        });
        if (parameter.table || is_index)
            throw InputError(
                fmt::format("'{}' of operator {} cannot be generated in parts; give --input {}=FILE.npy",
                            parameter.name, op.name, parameter.name));
        sources[i] = values_source(parameter.type, *num_elements, seed_of(op, parameter.name, request.seed),
                                   request.values);
        prepared.origins[i] = fmt::format("{}, seed {}", name(request.values), request.seed);
    }
    prepared.input.segments = open_layout(seeded(request.layout, request.seed), num_elements, prepared.made);
    return prepared;
}

}  // namespace segfold::cli
