//% use cpu/parts/share_cuts.h

// Joins the next item on the way of the scan to a state.
//% if reverse
[[gnu::always_inline]] static inline State joined(State before, State next) { return combine(next, before); }
//% else
[[gnu::always_inline]] static inline State joined(State before, State next) { return combine(before, next); }
//% end

// A share of the path that passes all items and ends.
struct Share {
    Cut begin;
    Cut end;
};
//% if associative

static inline Share share_of(const Segments& segments, i64 share)
{
    return {share_begin(segments, share), share_begin(segments, share + 1)};
}

// Consecutive items of a segment.
struct Span {
    Index segment;
    Index begin;
    Index end;
    bool goes_through;  // true if the segment begins before the share and goes on behind it
};

// Returns the share's items of the segment that goes on behind the share, on the way of the scan.
static inline Span open_span(const Segments& segments, const Share& share)
{
    //% if reverse
    const Index segment = share.begin.segment;
    if (segment == segments.num_segments || segment_begin(segments, segment) >= share.begin.item)
        return {segment, share.begin.item, share.begin.item, false};
    const bool ends = segment < share.end.segment;
    return {segment, share.begin.item, ends ? segment_end(segments, segment) : share.end.item, !ends};
    //% else
    const Index segment = share.end.segment;
    const Index begin = segment < segments.num_segments ? segment_begin(segments, segment) : share.end.item;
    const bool begins = begin >= share.begin.item;
    return {segment, begins ? begin : share.begin.item, share.end.item, !begins};
    //% end
}
//% end
