//% use cpu/parts/segments.h
//% let     num_shares = max(1, ceil_div(num_items + num_segments, share_steps))
//% scratch share_heads : State[num_shares]
//% scratch share_tails : State[num_shares]
//% scratch share_items : Index[num_shares]
//% scratch share_segments : Index[num_shares]
//% launch  fold_share   grid = num_shares  block = 1
//% launch  join_shares  grid = 1  block = 1

// Joins the parts of segments that shares have cut. The total of such a segment consists of the tails of the
// shares from its begin on, in order, and of the head of the share in which it ends. share_items and
// share_segments tell where each share begins.
extern "C" void join_shares(i64,
                            const Segments& segments,
                            const Results& results,
                            const State* share_heads,
                            const State* share_tails,
                            const Index* share_items,
                            const Index* share_segments)
{
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    State carry = identity();
    for (i64 share = 0; share < num_shares; ++share) {
        const Index segment = share_segments[share];
        const Index end = share + 1 == num_shares ? segments.num_segments : share_segments[share + 1];
        const Index begin = segment < segments.num_segments ? segment_begin(segments, segment) : 0;
        const bool is_open = segment < segments.num_segments && begin < share_items[share];
        if (segment == end) {
            carry = is_open ? combine(carry, share_tails[share]) : share_tails[share];
            continue;
        }
        if (is_open)
            store(results, segment, segment_end(segments, segment) - begin,
                  combine(carry, share_heads[share]));
        carry = share_tails[share];
    }
}
