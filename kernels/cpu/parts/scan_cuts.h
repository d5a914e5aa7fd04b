//% use cpu/parts/share_cuts.h

// The state with one item more, on the way that the scan takes.
//% if reverse
[[gnu::always_inline]] static inline State joined(State before, State next) { return combine(next, before); }
//% else
[[gnu::always_inline]] static inline State joined(State before, State next) { return combine(before, next); }
//% end

// Where a share lies on the path of items and ends.
struct Share {
    Cut begin;
    Cut end;
};
//% if associative

static inline Share share_of(const Segments& segments, i64 share)
{
    return {share_begin(segments, share), share_begin(segments, share + 1)};
}

// Items of a segment.
struct Span {
    Index segment;
    Index begin;
    Index end;
    bool goes_through;  // the segment comes from one neighbour of the share and goes on to the other
};

// What a share has of the segment that goes on behind it, on the way that the scan takes.
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
