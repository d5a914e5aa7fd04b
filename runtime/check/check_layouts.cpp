#include "runtime/check/check_layouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/check/rows.h"
#include "runtime/data/groups.h"
#include "runtime/judge/checked_workload.h"

namespace segfold::regress {
namespace {

constexpr std::int64_t kEmptiesBefore = 3, kEmptiesBetween = 300, kEmptiesBehind = 70;
/// Number of features in generated rows. It is odd, so a row fills neither whole vector loads nor whole
/// groups of lanes.
constexpr std::int64_t kOddFeatures = 7;

/// Changes the segments as CheckLayout::has_runs describes, and as CheckLayout::has_ones describes if
/// `has_ones` is true. Adds empty segments only if `allows_empty` is true.
Segments with_runs(const Segments& segments, bool has_ones, bool allows_empty)
{
    const auto n = segments.num_segments;
    const auto empties = [&](std::int64_t count) {
        return static_cast<std::size_t>(allows_empty ? count : 0);
    };
    const auto ones_begin = n * 3 / 4, ones_end = n * 7 / 8;
    std::vector<std::int64_t> offsets(empties(kEmptiesBefore), 0);
    for (std::int64_t s = 0; s < n; ++s) {
        if (s > n / 4 && s < ones_begin)
            continue;
        if (s == ones_end)
            offsets.insert(offsets.end(), empties(kEmptiesBetween), segments.begin(s));
        if (has_ones && s >= ones_begin && s < ones_end)
            for (auto i = segments.begin(s); i < segments.end(s); ++i)
                offsets.push_back(i);
        else
            offsets.push_back(segments.begin(s));
    }
    offsets.insert(offsets.end(), 1 + empties(kEmptiesBehind), segments.num_elements);
    return segments_from_offsets(Array::of<std::int64_t>(Type::i64, offsets), segments.num_elements);
}

/// Returns the segments as ranges, from the last segment to the first. Each non-empty range is one element
/// longer than its segment. If `is_mapped` is true, ranges keep their length, because a mapped element may
/// belong to only one segment.
Segments backwards(const Segments& segments, bool is_mapped)
{
    const std::int64_t reach = is_mapped ? 0 : 1;
    std::vector<std::int64_t> begins, ends;
    for (std::int64_t s = segments.num_segments - 1; s >= 0; --s) {
        begins.push_back(segments.begin(s));
        ends.push_back(segments.length(s) == 0 ? segments.end(s)
                                               : std::min(segments.end(s) + reach, segments.num_elements));
    }
    return segments_from_ranges(Array::of<std::int64_t>(Type::i64, begins),
                                Array::of<std::int64_t>(Type::i64, ends), segments.num_elements);
}

}  // namespace

Segments scattered(const Segments& segments, bool allows_empty)
{
    constexpr std::int64_t kStride = 7919;  // a prime
    constexpr std::int64_t kSpared = 16;
    const auto n = segments.num_elements;
    const auto stride = n % kStride == 0 ? 1 : kStride;
    Array numbers(Type::i32, static_cast<std::size_t>(n));
    const auto into = numbers.as<std::int32_t>();
    for (std::int64_t s = 0; s < segments.num_segments; ++s)
        for (auto i = segments.begin(s); i < segments.end(s); ++i) {
            const bool is_spared = i != segments.begin(s) && i % kSpared == 0;
            into[static_cast<std::size_t>(i * stride % n)] = is_spared ? -1 : static_cast<std::int32_t>(s);
        }
    return segments_from_groups(std::move(numbers), segments.num_segments + (allows_empty ? 1 : 0));
}

std::vector<CheckLayout> standard_layouts(const Operator& op, std::int64_t num_elements)
{
    std::int64_t length = kOddLength;
    while (length > 1 && num_elements % length != 0)
        length -= 2;
    for (std::int64_t even = 32; length == 1 && even > 1; even -= 2)
        length = num_elements % even == 0 ? even : 1;
    std::vector<CheckLayout> layouts;
    const std::string uneven = op.takes_empty_segments() ? "half_empty:mean=8" : "bimodal:short=3,long=700";
    for (const auto& text :
         {std::string("whole"), fmt::format("uniform={}", length), std::string("zipf:exponent=1.9"), uneven})
        layouts.push_back({text, parse_layout(text)});
    layouts.push_back({.name = "ranges",
                       .layout = layouts.back().layout,
                       .recast = SegmentForm::ranges,
                       .has_runs = true,
                       .is_disturbed = true});
    // Flags and keys cannot express empty segments, so their layout has none.
    const auto found = parse_layout("bimodal:short=3,long=700");
    layouts.push_back({.name = "flags", .layout = found, .recast = SegmentForm::flags});
    layouts.push_back({.name = "keys", .layout = found, .recast = SegmentForm::keys, .is_disturbed = true});
    layouts.push_back(
        {.name = "groups", .layout = found, .recast = SegmentForm::groups, .is_disturbed = true});
    layouts.push_back({.name = op.takes_empty_segments() ? "empty_runs" : "giant",
                       .layout = parse_layout(uneven),
                       .recast = SegmentForm::offsets,
                       .has_runs = true,
                       .has_ones = true,
                       .is_disturbed = true});
    // The layouts that follow have fewer elements than any tile.
    const auto few = parse_layout(op.takes_empty_segments() ? "lengths=[3,0,1]" : "lengths=[3,1]");
    layouts.push_back({.name = "few", .layout = few, .is_few = true});
    layouts.push_back({.name = "few_keys",
                       .layout = parse_layout("lengths=[3,1]"),
                       .recast = SegmentForm::keys,
                       .is_few = true});
    return layouts;
}

PreparedWorkload make_check_workload(const Operator& op, WorkloadRequest request, const CheckLayout& layout,
                                     std::int64_t standard_elements)
{
    request.standard_elements = standard_elements;
    request.layout = layout.layout;
    if (layout.is_few)
        request.num_elements.reset();
    if (layout.has_runs && has_rows(op) && !request.num_features)
        request.num_features = kOddFeatures;
    if (layout.recast)
        request.recast = [&](Segments segments) {
            if (layout.has_runs)
                segments = with_runs(segments, layout.has_ones, op.takes_empty_segments());
            switch (*layout.recast) {
                case SegmentForm::offsets: return segments;
                case SegmentForm::ranges: return backwards(segments, !op.outputs.empty());
                case SegmentForm::groups: return scattered(segments, op.takes_empty_segments());
                default: return given_as(*layout.recast, segments);
            }
        };
    return make_checked_workload(op, request);
}

}  // namespace segfold::regress
