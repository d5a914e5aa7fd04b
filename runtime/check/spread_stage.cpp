#include "runtime/check/spread_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "dsl/error.h"
#include "runtime/scale/ranks/ranks.h"
#include "runtime/scale/slices/slice_bytes.h"

namespace segfold::regress {
namespace {

// Bytes of memory that an engine keeps free beside the slices.
constexpr std::int64_t kSpareBytes = std::int64_t{1} << 26;

SliceProblem problem_of(const Workload& workload, const SpreadStage& how)
{
    SliceProblem problem{workload.op, how.laws};
    if (how.is_reproducible) {
        make_reproducible(problem, how.catalogue);
        return problem;
    }
    problem.choose = [&](const Problem& of, const Shape& shape) {
        const auto& serving =
            how.catalogue.unmet(how.stage, of) ? how.catalogue.rule_of_thumb(of, shape) : how.stage;
        return PlanChoice{how.catalogue.share(serving), true,
                          emit(of, serving, how.configure(serving, of), how.catalogue)};
    };
    return problem;
}

/// Returns a source that streams `segments`.
SegmentSource source_of(const Segments& segments)
{
    switch (segments.form) {
        case SegmentForm::whole: return {LayoutKind::whole, 0, nullptr};
        case SegmentForm::uniform: return {LayoutKind::uniform, segments.uniform_length, nullptr};
        case SegmentForm::flags: return {LayoutKind::flags, 0, memory_source(segments.flags)};
        case SegmentForm::keys: return {LayoutKind::keys, 0, memory_source(segments.item_keys)};
        case SegmentForm::offsets: return {LayoutKind::offsets, 0, memory_source(segments.offsets)};
        default: throw InputError(reason_against_ranks(segments));
    }
}

StreamInput input_of(const Workload& workload)
{
    StreamInput input;
    for (const auto& array : workload.arrays)
        input.parameters.push_back(memory_source(array));
    input.segments = source_of(workload.segments);
    return input;
}

/// Returns the results of all ranks, in rank order, on every rank. All ranks must call this.
Results gathered(Communicator& ranks, const RankResults& mine)
{
    Results all;
    const auto gather = [&](Type type, const Array& own) {
        const auto parts = ranks.all_gather({own.data(), own.bytes()});
        std::size_t bytes = 0;
        for (const auto& part : parts)
            bytes += part.size();
        Array array(type, bytes / size_bytes(type));
        std::size_t at = 0;
        for (const auto& part : parts) {
            if (!part.empty())
                std::memcpy(array.data() + at, part.data(), part.size());
            at += part.size();
        }
        return array;
    };
    for (const auto* results : {&mine.results, &mine.running})
        for (const auto& [name, array] : *results)
            all.push_back({name, gather(array.type(), array)});
    return all;
}

}  // namespace

SliceDevice device_of(Backend& backend, const Circumstances& circumstances)
{
    return {[&backend, circumstances](const Workload& part, const Emitted* text, RunTimes&) {
                return backend.run(part, text, circumstances);
            },
            true, backend.target()};
}

RankDevice rank_device_of(Backend& backend, const Circumstances& circumstances)
{
    RankDevice device{device_of(backend, circumstances)};
    if (backend.context() != nullptr)
        device.make_engine = [&backend] { return cuda_engine(backend); };
    return device;
}

Results run_sliced(std::span<const SliceDevice> devices, const Workload& workload, const SpreadStage& how,
                   std::int64_t num_slices)
{
    return std::move(fold_sliced(devices, problem_of(workload, how), workload, num_slices).results);
}

std::string reason_against_ranks(const Segments& segments)
{
    return segments.form == SegmentForm::ranges
               ? "ranks read segments in parts, which ranges do not lie in; give offsets"
               : "";
}

Results run_by_ranks(AgreedRanks& ranks, const RankDevice& device, const Workload& workload,
                     const SpreadStage& how, std::int64_t slice_elements)
{
    Results results;
    ranks.together([&] {
        auto input = input_of(workload);
        const auto n = workload.segments.num_elements;
        const auto least = how.is_reproducible ? kJoinBlock : 1;
        const auto room = std::max(slice_elements > 0 ? slice_elements : n, least);
        auto engine = device.make_engine && !workload.op.scan ? device.make_engine() : nullptr;
        const auto each = bytes_of_slices(workload.op, input, engine != nullptr, n).each();
        StreamOptions options;
        options.memory_bytes = static_cast<std::int64_t>(each * static_cast<double>(room)) + 1;
        if (engine)  // an engine gives slices only part of memory_bytes
            options.memory_bytes += options.memory_bytes / 8 + kSpareBytes;
        Stream stream(device.device, problem_of(workload, how), std::move(input), options, std::move(engine));
        constexpr auto kAll = std::numeric_limits<std::int64_t>::max();
        const auto mine = fold_share(ranks, stream, {kAll, 0, kAll});
        results = gathered(ranks, mine);
        const auto num_segments = workload.op.keeps_results
                                      ? static_cast<std::int64_t>(results.front().array.length())
                                      : workload.segments.num_segments;
        if (num_segments != workload.segments.num_segments)
            throw InternalError(fmt::format("ranks gave results of {} segments for {}", num_segments,
                                            workload.segments.num_segments));
    });
    if (workload.segments.keys)
        results.keys = workload.segments.keys->copy();
    return results;
}

}  // namespace segfold::regress
