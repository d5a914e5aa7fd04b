//% use cpu/parts/segments.h
//% let     num_shares = max(1, ceil_div(num_items + num_segments, share_steps))
//% scratch share_heads : State[num_shares * num_features]
//% scratch share_tails : State[num_shares * num_features]
//% scratch share_items : Index[num_shares]
//% scratch share_segments : Index[num_shares]
//% launch  fold_share   grid = num_shares  block = 1
//% launch  join_rows  grid = ceil_div(num_features, 64)  block = 1

constexpr int kJoinFeatures = 64;

// Joins the parts of segments that shares have cut, for kJoinFeatures features side by side. The total of
// such a segment consists of the tails of the shares from its begin on, in order, and of the head of the
// share in which it ends. share_items and share_segments tell where each share begins.
extern "C" void join_rows(i64 block,
                          const Segments& segments,
                          const Results& results,
                          const State* share_heads,
                          const State* share_tails,
                          const Index* share_items,
                          const Index* share_segments)
{
    const Index num_features = results.num_features;
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    const Index first = Index(block) * kJoinFeatures;
    const int count = num_features - first < kJoinFeatures ? int(num_features - first) : kJoinFeatures;
    State carries[kJoinFeatures];
    for (int k = 0; k < count; ++k)
        carries[k] = identity();
    for (i64 share = 0; share < num_shares; ++share) {
        const State* heads = share_heads + share * num_features + first;
        const State* tails = share_tails + share * num_features + first;
        const Index segment = share_segments[share];
        const Index end = share + 1 == num_shares ? segments.num_segments : share_segments[share + 1];
        const Index begin = segment < segments.num_segments ? segment_begin(segments, segment) : 0;
        const bool is_open = segment < segments.num_segments && begin < share_items[share];
        if (segment < end && is_open) {
            const Index length = segment_end(segments, segment) - begin;
            for (int k = 0; k < count; ++k)
                store_feature(results, segment, length, i64(segment) * num_features + first + k,
                              combine(carries[k], heads[k]));
        }
        const bool goes_on = segment == end && is_open;
        for (int k = 0; k < count; ++k)
            carries[k] = goes_on ? combine(carries[k], tails[k]) : tails[k];
    }
}
