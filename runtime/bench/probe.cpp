#include "runtime/bench/probe.h"

#include <algorithm>
#include <array>

namespace segfold::bench {
namespace {

constexpr std::int64_t kShort = std::int64_t{1} << 14;
constexpr std::int64_t kLong = std::int64_t{1} << 18;

/// One segment of the first elements, in the form and index width of `like`.
Segments one_segment(const Segments& like, std::int64_t length)
{
    Segments segments;
    if (like.form == SegmentForm::whole) {
        segments = whole_segments(length);
    } else if (like.form == SegmentForm::uniform) {
        segments = uniform_segments(length, length);
    } else {
        const std::array<std::int64_t, 2> offsets = {0, length};
        segments = segments_from_offsets(Array::of<std::int64_t>(Type::i64, offsets), length);
    }
    return with_index_bits(std::move(segments), like.index_bits());
}

}  // namespace

double least_milliseconds(Bench& bench, const Emitted& emitted, const std::string& name,
                          const LadderRequest& request)
{
    const auto& segments = request.workload.segments;
    if (segments.form == SegmentForm::ranges || segments.num_elements < 4 * kLong)
        return 0;
    const auto longest = length_range(segments).longest;
    if (longest <= kLong)
        return 0;
    std::array<double, 2> milliseconds = {};
    const std::array lengths = {kShort, kLong};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        Workload workload;
        workload.op = request.workload.op;
        workload.segments = one_segment(segments, lengths[i]);
        cuda::ResidentWorkload resident(bench.context, workload, request.inputs);
        const cuda::LoadedPlan plan(bench.context, resident, emitted, name, &bench.compiled);
        const auto launch = [&] { plan.launch(bench.stopwatch.stream()); };
        (void)bench.stopwatch.once(launch);
        milliseconds[i] = std::min(bench.stopwatch.once(launch), bench.stopwatch.once(launch));
    }
    const double pace = (milliseconds[1] - milliseconds[0]) / static_cast<double>(kLong - kShort);
    return std::max(pace, 0.0) * static_cast<double>(longest);
}

}  // namespace segfold::bench
