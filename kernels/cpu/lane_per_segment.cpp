//% stage   lane_per_segment
//% title   One lane of a vector folds one segment
//% source  Bell & Garland 2009, section 4.3, CSR (scalar)
//% layout  whole, uniform, offsets, ranges
//% tune    share_steps = 65536, 1024, 16384, 262144
//% let     num_shares = max(1, ceil_div(num_items + num_segments, share_steps))
//% launch  fold_share  grid = num_shares  block = 1
//% use     cpu/parts/share_cuts.h
//% if map
//% use     cpu/parts/map_items.h
//% end

[[gnu::always_inline]] static inline void take_item(States& totals, int lane, const Inputs& inputs,
                                                    Index begin, Index position, Index segment)
{
    append(totals, lane, load_item(inputs, begin + position, position, segment));
}

[[gnu::always_inline]] static inline void store_total(const Results& results, Index segment, Index length,
                                                      const States& totals, int lane)
{
    store(results, segment, length, get(totals, lane));
}

// Each lane folds one of kLanes neighbouring segments strictly from left to right, as the reference does.
// Lanes walk in step, and a lane whose segment is over waits. This is fast for segments of a few elements and
// of similar lengths.
static inline void fold_group(const Inputs& inputs, const Segments& segments, const Results& results,
                              Index first)
{
    Index begin[kLanes];
    Index length[kLanes];
    States totals;
    Index longest = 0;
    #pragma omp simd reduction(max : longest)
    for (int lane = 0; lane < kLanes; ++lane) {
        const Index segment = first + lane;
        begin[lane] = element_of(segments, segment, segment_begin(segments, segment));
        length[lane] = segment_end(segments, segment) - segment_begin(segments, segment);
        longest = length[lane] > longest ? length[lane] : longest;
        clear(totals, lane);
    }
    for (Index position = 0; position < longest; ++position) {
        #pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            if (position < length[lane])
                take_item(totals, lane, inputs, begin[lane], position, first + lane);
    }
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        store_total(results, first + lane, length[lane], totals, lane);
}

//% if map
// A share folds and maps the segments that end in it.
//% else
// A share folds the segments that end in it.
//% end
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           const Results& results)
{
    const Index first = share_begin(segments, share).segment;
    const Index end = share_begin(segments, share + 1).segment;
    Index segment = first;
    for (; end - segment >= kLanes; segment += kLanes)
        fold_group(inputs, segments, results, segment);
    for (; segment < end; ++segment) {
        const Index length = segment_end(segments, segment) - segment_begin(segments, segment);
        const Index begin = element_of(segments, segment, segment_begin(segments, segment));
        State total = identity();
        for (Index position = 0; position < length; ++position)
            total = combine(total, load_item(inputs, begin + position, position, segment));
        store(results, segment, length, total);
    }
    //% if map
    for (segment = first; segment < end; ++segment)
        map_items(inputs, results, segments, segment, segment_begin(segments, segment),
                  segment_end(segments, segment));
    //% end
}
