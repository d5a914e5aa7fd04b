//% use cpu/parts/map_items.h
//% let     num_shares = max(1, ceil_div(num_items + num_segments, share_steps))
//% launch  map_borders  grid = num_shares  block = 1

//% if !rows && !ranges
// Short segments are mapped together, in blocks of kMapItems items. The segment of each item is listed, so
// that lanes take any items. A block must have room for kFewestSegments segments.
constexpr Index kMapItems = 512;
constexpr Index kFewestSegments = 64;

struct Owners {
    alignas(64) Index at[kMapItems + kLanes];
};

// Writes for each item, from `item` on, which segment it belongs to. `segment` begins with `item`. Takes
// segments up to `end` - 1 as long as they fit the block. Returns the first segment that was not taken. Whole
// vectors are written, and the next segment overwrites what is too much.
[[gnu::noinline]] static Index list_owners(Owners& owners, const Segments& segments, Index item,
                                           Index segment, Index end)
{
    const Segments all = segments;
    Index from = 0;
    for (; segment < end && segment_end(all, segment) - item <= kMapItems; ++segment) {
        const Index to = segment_end(all, segment) - item;
        for (; from < to; from += kLanes) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane)
                owners.at[from + lane] = segment;
        }
        from = to;
    }
    return segment;
}

[[gnu::always_inline]] static inline void map_owned(const Inputs& inputs, const Results& results,
                                                    const Segments& segments, Index item, Index segment)
{
    const Index begin = segment_begin(segments, segment);
    map_item(inputs, results, finished(results, segment), item, item - begin, segment,
             segment_end(segments, segment) - begin);
}

[[gnu::noinline]] static void map_block(const Inputs& inputs, const Results& results,
                                        const Segments& segments, const Owners& owners, Index item,
                                        Index end)
{
    const Inputs columns = inputs;
    const Results all = results;
    const Segments places = segments;
    #pragma omp simd
    for (Index k = 0; k < end - item; ++k)
        map_owned(columns, all, places, item + k, owners.at[k]);
}

//% end
// Maps the segments `segment` to `end` - 1, which a share has folded, while the cache still holds them. A
// segment that began before the share's first item `item` is left out, because it has no results yet.
static inline void map_inside(const Inputs& inputs, const Results& results, const Segments& segments,
                              Index item, Index segment, Index end)
{
    if (segment < end && segment_begin(segments, segment) < item)
        ++segment;
    while (segment < end) {
        const Index first = segment_begin(segments, segment);
        //% if !rows && !ranges
        if (end - segment >= kFewestSegments &&
            segment_end(segments, segment + kFewestSegments - 1) - first <= kMapItems) {
            Owners owners;
            segment = list_owners(owners, segments, first, segment, end);
            map_block(inputs, results, segments, owners, first, segment_begin(segments, segment));
            continue;
        }
        //% end
        map_items(inputs, results, segments, segment, first, segment_end(segments, segment));
        ++segment;
    }
}

// Maps the share's items of segments that shares have cut. Runs after the parts of these segments are joined.
// share_items and share_segments tell where each share begins.
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
