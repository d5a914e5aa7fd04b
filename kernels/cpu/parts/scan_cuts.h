//% use cpu/parts/share_cuts.h

// Joins a state with the next one on the way of the scan.
//% if reverse
[[gnu::always_inline]] static inline State joined(State before, State next) { return combine(next, before); }
//% else
[[gnu::always_inline]] static inline State joined(State before, State next) { return combine(before, next); }
//% end

// A share of the path that passes every item and every end of a segment.
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
    bool goes_through;  // true if the segment begins before the share and ends after it
};

// Returns the share's items of the segment that is still open when the way of the scan leaves the share.
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
