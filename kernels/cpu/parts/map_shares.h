//% use cpu/parts/map_items.h
//% let     num_shares = max(1, ceil_div(num_items + num_segments, share_steps))
//% launch  map_borders  grid = num_shares  block = 1

// Maps what a share has folded, which the cache still holds: the segments from `segment` to `end` - 1. One
// that began before `item`, where the share begins, has no results yet.
static inline void map_inside(const Inputs& inputs, const Results& results, const Segments& segments,
                              Index item, Index segment, Index end)
{
    if (segment < end && segment_begin(segments, segment) < item)
        ++segment;
    for (; segment < end; ++segment)
        map_items(inputs, results, segments, segment, segment_begin(segments, segment),
                  segment_end(segments, segment));
}

// Maps what a share has of segments that other shares have parts of, when their parts are joined.
// share_items and share_segments say where each share begins.
extern "C" void map_borders(i64 share,
                            const Inputs& inputs,
                            const Segments& segments,
                            const Results& results,
                            const Index* share_items,
                            const Index* share_segments)
{
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    const bool is_last = share + 1 >= num_shares;
    const Index item = share_items[share];
    const Index end = is_last ? segments.num_items : share_items[share + 1];
    const Index first = share_segments[share];
    const Index last = is_last ? segments.num_segments : share_segments[share + 1];
    if (first < last && segment_begin(segments, first) < item)
        map_items(inputs, results, segments, first, item, segment_end(segments, first));
    if (last == segments.num_segments)
        return;
    const Index begin = segment_begin(segments, last);
    if (begin < end)
        map_items(inputs, results, segments, last, begin < item ? item : begin, end);
}
