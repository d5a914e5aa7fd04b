#include "runtime/cli/verbs/stream_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "dsl/error.h"
#include "runtime/cli/arguments/workload_argument.h"
#include "runtime/data/formats/npz.h"
#include "runtime/data/formats/written_array.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/data/resolve.h"
#include "runtime/support/files/file.h"

namespace segfold::cli {
namespace {

[[noreturn]] void refuse_layout(const Layout& layout)
{
    throw InputError(fmt::format(
        "--layout '{}' cannot be read in parts; whole, uniform, offsets, lengths, flags, keys and groups can",
        print(layout)));
}

/// Opens an array file. Error messages contain `purpose`, such as "for --input x".
std::unique_ptr<ArraySource> open(const std::string& purpose, const std::string& path,
                                  std::optional<Type> type)
{
    if (is_written_array(path))
        return memory_source(type ? read_written_array(path, *type) : read_written_array(path));
    std::error_code ignored;
    if (const auto file = archive_place(path).path; file == "-" || std::filesystem::is_fifo(file, ignored))
        throw InputError(
            fmt::format("{}: a pipe cannot be read in parts; save the array in a .npy file, or leave "
                        "--memory out",
                        path));
    if (!path.ends_with(".npy"))
        throw InputError(
            fmt::format("{}: only .npy files are read in parts; save the array with numpy.save, or "
                        "leave --memory out",
                        path));
    return naming_purpose(purpose, [&] { return npy_source(path, type); });
}

std::unique_ptr<ArraySource> open_marks(const Layout& layout)
{
    return open(fmt::format("for --layout {}", name(layout.kind)), layout.files.at(0), {});
}

SegmentSource open_layout(const Layout& layout, std::optional<std::int64_t> num_elements, bool sorts_keys)
{
    SegmentSource source{layout.kind, layout.uniform_length};
    if (sorts_keys) {
        source.kind = LayoutKind::groups;
        source.groups.order = KeyOrder::ascending;
    }
    source.groups.num_groups = layout.num_groups;
    switch (layout.kind) {
        case LayoutKind::whole:
        case LayoutKind::uniform: return source;
        case LayoutKind::offsets:
        case LayoutKind::lengths:
        case LayoutKind::flags:
        case LayoutKind::keys:
        case LayoutKind::groups: source.array = open_marks(layout); return source;
        case LayoutKind::generated:
            source.kind = LayoutKind::offsets;
            source.array = memory_source(std::move(resolve(layout, num_elements).segments.offsets));
            return source;
        default: refuse_layout(layout);
    }
}

/// Opens the array that the request gives for a parameter. Returns null if the array must be generated.
std::unique_ptr<ArraySource> open_given(const Parameter& parameter, const WorkloadRequest& request,
                                        std::string& origin)
{
    if (const auto scalar = request.scalars.find(parameter.name); scalar != request.scalars.end()) {
        auto value = scalar_array(parameter, scalar->second);
        origin = given_scalar_text(parameter, value);
        return memory_source(std::move(value));
    }
    const auto file = request.inputs.find(parameter.name);
    if (file == request.inputs.end())
        return nullptr;
    origin = file->second;
    const auto purpose = "for --input " + parameter.name;
    if (!parameter.table)
        return open(purpose, file->second, parameter.type);
    auto array = naming_purpose(purpose, [&] { return read_array_as(file->second, parameter.type); });
    if (parameter.scalar)
        require_one_value(parameter, file->second, array);
    return memory_source(std::move(array));
}

/// Returns the number of elements that the layout determines, if neither a column nor --elements determines
/// it.
std::int64_t elements_of(const WorkloadRequest& request)
{
    const auto& layout = request.layout;
    switch (layout.kind) {
        case LayoutKind::flags:
        case LayoutKind::keys:
        case LayoutKind::groups: return open_marks(layout)->length().value_or(0);
        case LayoutKind::offsets:
        case LayoutKind::lengths:
            throw InputError(
                fmt::format("--layout '{}' is read in parts, so say how many elements its segments have: "
                            "--elements N, or --input with a column",
                            print(layout)));
        case LayoutKind::uniform:
            return std::max<std::int64_t>(request.standard_elements / layout.uniform_length, 1) *
                   layout.uniform_length;
        default: return request.standard_elements;
    }
}

/// Throws InputError if a table, or a column of indices into a table, is not given. Such data cannot be
/// generated in parts.
void require_tables(const Operator& op, const std::vector<std::unique_ptr<ArraySource>>& sources)
{
    const auto uses = table_uses(op);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto& parameter = op.parameters[i];
        const bool is_index =
            std::ranges::any_of(uses, [&](const TableUse& use) { return use.index == parameter.name; });
        if (!sources[i] && ((parameter.table && !parameter.scalar) || is_index))
            throw InputError(
                fmt::format("'{}' of operator {} cannot be generated in parts; give --input {}=FILE.npy",
                            parameter.name, op.name, parameter.name));
    }
}

}  // namespace

PreparedStream stream_input(const Operator& op, const WorkloadRequest& request)
{
    // Refuses layouts that cannot be read in parts before it checks anything else, because no other flag can
    // help.
    const auto kind = request.layout.kind;
    if (kind == LayoutKind::rows || kind == LayoutKind::ranges)
        refuse_layout(request.layout);
    PreparedStream prepared;
    auto num_elements = request.num_elements;
    auto& sources = prepared.input.parameters;
    for (const auto& parameter : op.parameters) {
        prepared.origins.emplace_back();
        sources.push_back(open_given(parameter, request, prepared.origins.back()));
        if (sources.back() && !parameter.table && !num_elements)
            num_elements = sources.back()->length();
    }
    if (!num_elements)
        num_elements = elements_of(request);
    require_tables(op, sources);
    require_given(op, request, [&](const Parameter& parameter) {
        return sources[static_cast<std::size_t>(&parameter - op.parameters.data())] != nullptr;
    });
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto& parameter = op.parameters[i];
        if (sources[i])
            continue;
        const auto seed = seed_of(op, parameter.name, request.seed);
        auto& origin = prepared.origins[i];
        origin = fmt::format("generated {}, seed {}", name(request.values), request.seed);
        if (parameter.scalar) {
            auto value = generate_values(parameter.type, 1, seed, request.values);
            origin = made_up_scalar_text(parameter, value, origin);
            sources[i] = memory_source(std::move(value));
        } else {
            sources[i] = values_source(parameter.type, *num_elements, seed, request.values);
        }
    }
    prepared.input.segments =
        open_layout(seeded(request.layout, request.seed), num_elements, request.sorts_keys);
    return prepared;
}

}  // namespace segfold::cli
