// Prepares a stream for its first slice.
#include "dsl/check/check.h"
#include "dsl/rewrite/neutral_identity.h"
#include "runtime/scale/stream_state.h"

namespace segfold {

void Stream::State::read_groups(GroupTotals::FoldPart fold_part)
{
    auto& segments = input.segments;
    const auto type = segments.array->type();
    groups.emplace(op, segments.groups, type, std::move(fold_part));
    op.parameters.push_back({unused_name(op, segments.groups.order ? "keys" : "groups"), type, false, {}});
    op = check(std::move(op));
    input.parameters.push_back(std::move(segments.array));
    segments = {};
}

void Stream::State::require_any_order() const
{
    const auto require = [&](const ArraySource& source) {
        if (source.length() != 0 && source.is_read_in_order())
            throw InputError(fmt::format(
                "operator {} {}, and {} is read from its begin alone, as a pipe or an iterator is; give a "
                "file or an array in memory",
                op.name,
                op.map ? "maps elements with the results of their groups, so that a stream reads all twice"
                       : "scans segments from their end",
                source.role()));
    };
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        if (!op.parameters[i].table)
            require(*input.parameters[i]);
    if (marks != nullptr)
        require(*marks);
}

void Stream::State::set_up(SliceDevice&& device, const std::function<SliceProblem()>& make_problem)
{
    lengths.emplace(op, input, engine != nullptr);
    num_elements = lengths->known();
    read_tables();
    const auto sizes = bytes_of_slices(op, input, engine != nullptr, num_elements);
    // Sorting a slice by group needs a copy of its columns, and about 16 bytes for each element.
    const auto bytes = sizes.each() * (groups ? 3 : 1);
    // Leave the rest of a device's memory to the scratch memory of plans.
    const auto share = engine ? detail::kUsableShare : 1;
    const auto usable = share * static_cast<double>(options.memory_bytes);
    constexpr double kMostElements = 0x1p48;  // bound for elements that take no memory
    slice_elements = static_cast<std::int64_t>(std::min(usable / bytes, kMostElements));
    if (engine && sizes.copied > 0)
        slice_elements =
            std::min(slice_elements, static_cast<std::int64_t>(detail::kMostCopied / sizes.copied));
    // The buffers have the size of a slice, even if far fewer elements come.
    if (!num_elements)
        slice_elements = std::min(slice_elements, static_cast<std::int64_t>(detail::kMostUncounted / bytes));
    marks = input.segments.array.get();
    const auto segments_kind = input.segments.kind;
    uniform_length = input.segments.uniform_length;
    kind = segments_kind;
    cursor = segment_cursor(std::move(input.segments), num_elements);
    num_elements = cursor->num_elements();
    if (goes_back())
        require_any_order();
    problem = make_problem();
    overflow.emplace(op, problem.laws, tables, engine ? 0 : slice_elements);
    block = problem.order == JoinOrder::blocks ? kJoinBlock : 0;
    if (const auto least = std::max<std::int64_t>(1, block); slice_elements < least)
        throw_no_room(options.memory_bytes, share, bytes, least);
    if (num_elements)
        slice_elements = std::min(slice_elements, std::max({*num_elements, block, std::int64_t{1}}));
    slice_segments =
        segments_of_slice(sizes, slice_elements, usable, engine != nullptr, cursor->num_segments());
    index_bits = index_bits_for({slice_elements, slice_segments});
    const auto segments = cursor->num_segments();
    const auto slices = num_elements ? std::max<std::int64_t>(1, *num_elements / slice_elements) : 1;
    problem.typical = {slice_elements, segments ? (*segments + slices - 1) / slices : slice_elements / 64 + 1,
                       kind == LayoutKind::uniform ? uniform_length : 0};
    for (const auto& parameter : op.parameters)
        if (parameter.table && !parameter.scalar)
            problem.checked_tables.push_back(parameter.name);
    folder.emplace(problem, device);
    if (problem.op.scan)
        ends.emplace(problem, std::move(device), SliceScope::ends);
    all.emplace(folder->joining());
    if (!engine) {
        for (auto& columns : host_rooms)
            columns = std::vector<Array>(op.parameters.size());
        return;
    }
    std::vector<bool> copied;
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        copied.push_back(is_copied(op, input, i));
    pipeline.emplace(*engine, op,
                     PipelineSizes{std::move(copied), slice_elements, slice_segments, sizes.index,
                                   static_cast<std::int64_t>(detail::kReadingShare * usable)});
    std::vector<ArraySource*> sources;
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
        if (is_copied(op, input, i))
            sources.push_back(input.parameters[i].get());
    pipeline->ready_for(sources);
    for (auto& table : tables)
        if (table.length() != 0)
            table = pipeline->put_table(table);
    const bool is_cut = !num_elements || *num_elements > slice_elements;
    const auto plans =
        folder->plans_for(kind == LayoutKind::uniform ? SegmentForm::uniform : SegmentForm::offsets,
                          index_bits == 64, kind != LayoutKind::whole || !is_cut, is_cut || block != 0);
    times.compile_seconds = engine->prepare(plans);
}

void Stream::State::read_tables()
{
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        tables.emplace_back();
        if (!op.parameters[i].table)
            continue;
        auto& source = *input.parameters[i];
        if (!source.length())
            refuse(source.where(), fmt::format("table '{}' must have a known length", op.parameters[i].name));
        tables.back() = Array(source.type(), static_cast<std::size_t>(*source.length()));
        source.read(0, tables.back());
    }
}

}  // namespace segfold
