//% stage   vector_per_segment
//% title   All lanes of a vector fold one segment, the cores equal shares of it
//% after   lane_per_segment
//% source  Bell & Garland 2009, section 4.3, CSR (vector); Merrill & Garland 2016
//% layout  whole, uniform, offsets, ranges
//% needs   associative
//% tune    share_steps = 65536, 1024, 16384, 262144
//% tune    accumulators = 4, 2, 8
//% use     cpu/parts/share_cuts.h
//% use     cpu/parts/join_shares.h
//% if map
//% use     cpu/parts/map_shares.h
//% end
//% use     cpu/parts/fold_items.h

// A share folds the segments between its two cuts, one after the other. Its part of a segment that began
// before the share, and its part of one that goes on behind the share, wait for join_shares.
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           const Results& results,
                           State* share_heads,
                           State* share_tails,
                           Index* share_items,
                           Index* share_segments)
{
    const Cut begin = share_begin(segments, share);
    const Cut end = share_begin(segments, share + 1);
    share_items[share] = begin.item;
    share_segments[share] = begin.segment;
    Index item = begin.item;
    for (Index segment = begin.segment; segment < end.segment; ++segment) {
        const Index first = segment_begin(segments, segment);
        const Index last = segment_end(segments, segment);
        const State total = fold_items(inputs, segments, segment, item, last);
        if (first < item)
            share_heads[share] = total;
        else
            store(results, segment, last - first, total);
        item = last;
    }
    share_tails[share] =
        item < end.item ? fold_items(inputs, segments, end.segment, item, end.item) : identity();
    //% if map
    map_inside(inputs, results, segments, begin.item, begin.segment, end.segment);
    //% end
}
