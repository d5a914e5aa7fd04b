#include "runtime/measure/bench/probe.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace segfold::bench {
namespace {

/// Returns one segment that consists of the first `length` elements, in the form and index width of `like`.
Segments one_segment(const Segments& like, std::int64_t length)
{
    Segments segments;
    if (like.form == SegmentForm::whole) {
        segments = whole_segments(length);
    } else if (like.form == SegmentForm::uniform) {
        segments = uniform_segments(length, length);
    } else if (like.form == SegmentForm::flags) {
        segments = given_as(like.form, whole_segments(length));
    } else if (like.form == SegmentForm::keys) {
        Array keys(like.item_keys.type(), static_cast<std::size_t>(length));
        std::memset(keys.data(), 0, keys.bytes());
        segments = segments_from_keys(std::move(keys), length);
    } else {
        const std::array<std::int64_t, 2> offsets = {0, length};
        segments = segments_from_offsets(Array::of<std::int64_t>(Type::i64, offsets), length);
    }
    return with_index_bits(std::move(segments), like.index_bits());
}

}  // namespace

double milliseconds_of_prefix(Timing& timing, const Workload& workload,
                              std::shared_ptr<const LoadedArrays> arrays, const Emitted& text)
{
    const auto placed = timing.place(workload, std::move(arrays));
    const auto launch = timing.prepare(*placed, text).launch;
    (void)timing.once(launch);
    const double second = timing.once(launch);
    return std::min(second, timing.once(launch));
}

double pace_of(const std::array<double, 2>& milliseconds)
{
    return std::max(0.0, (milliseconds[1] - milliseconds[0]) /
                             static_cast<double>(kProbedLengths[1] - kProbedLengths[0]));
}

double least_milliseconds(Timing& timing, const Emitted& emitted, const LadderRequest& request)
{
    const auto& segments = request.workload.segments;
    if (segments.form == SegmentForm::ranges || segments.num_elements < 4 * kProbedLengths[1])
        return 0;
    const auto longest = length_range(segments).longest;
    if (longest <= kProbedLengths[1])
        return 0;
    std::array<double, 2> milliseconds = {};
    for (std::size_t i = 0; i < kProbedLengths.size(); ++i) {
        Workload workload;
        workload.op = request.workload.op;
        workload.segments = one_segment(segments, kProbedLengths[i]);
        milliseconds[i] = milliseconds_of_prefix(timing, workload, request.inputs, emitted);
    }
    return pace_of(milliseconds) * static_cast<double>(longest);
}

}  // namespace segfold::bench
