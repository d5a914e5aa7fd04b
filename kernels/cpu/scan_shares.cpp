//% stage   scan_shares
//% title   Running results: equal shares, the states open between them joined, then each share walked
//% source  Blelloch 1990, section 1.2; Zhang, Wang & Ross 2020
//% layout  whole, uniform, offsets, ranges
//% needs   scans
//% tune    share_steps = 65536, 1024, 16384, 262144
//% tune    accumulators = 4, 2, 8
//% let     num_shares = max(1, ceil_div(num_items + num_segments, share_steps))
//% if associative
//% let     num_cut = num_shares > 1 ? num_shares : 0
//% scratch share_states : State[num_shares]
//% launch  fold_share    grid = num_cut  block = 1
//% launch  join_carries  grid = min(1, num_cut)  block = 1
//% end
//% launch  scan_share    grid = num_shares  block = 1
//% use     cpu/parts/scan_cuts.h
//% if associative
//% use     cpu/parts/fold_items.h
//% else
//% use     cpu/parts/segments.h
//% end

//% if associative
// Folds the share's part of the segment that goes on behind the share. The state of the last share is not
// used.
extern "C" void fold_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           State* share_states)
{
    const Span open = open_span(segments, share_of(segments, share));
    share_states[share] = open.begin < open.end
                              ? fold_items(inputs, segments, open.segment, open.begin, open.end)
                              : identity();
}

// Joins the states that fold_share() left, along the way of the scan. Each share gets the state with which
// its first segment begins.
extern "C" void join_carries(i64, const Segments& segments, State* share_states)
{
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    State carry = identity();
    for (i64 k = 0; k < num_shares; ++k) {
        //% if reverse
        const i64 share = num_shares - 1 - k;
        //% else
        const i64 share = k;
        //% end
        const State own = share_states[share];
        share_states[share] = carry;
        carry = open_span(segments, share_of(segments, share)).goes_through ? joined(carry, own) : own;
    }
}
//% else
// combine() is refuted to be associative, so a share takes whole segments: those that end in it.
static inline Share share_of(const Segments& segments, i64 share)
{
    Cut cuts[2] = {share_begin(segments, share), share_begin(segments, share + 1)};
    for (Cut& cut : cuts)
        cut.item = cut.segment < segments.num_segments ? segment_begin(segments, cut.segment)
                                                       : segments.num_items;
    return {cuts[0], cuts[1]};
}
//% if reverse && (keeps_results || map)

// Folds a segment from left to right. The state of a reverse scan is not this total, because combine() is not
// associative.
static inline State fold_in_order(const Inputs& inputs, const Segments& segments, Index segment)
{
    const Index begin = segment_begin(segments, segment);
    const Index count = segment_end(segments, segment) - begin;
    if (count == 0)
        return identity();
    const Index first = element_of(segments, segment, begin);
    State total = load_item(inputs, first, 0, segment);
    for (Index k = 1; k < count; ++k)
        total = combine(total, load_item(inputs, first + k, k, segment));
    return total;
}
//% end
//% end

// Consecutive items of a segment, in the order in which the scan takes them.
struct Run {
    Index index;     // place of the first item in the input
    Index position;  // place of the first item in its segment
    Index segment;
};

[[gnu::always_inline]] static inline Index step_of(Index k)
{
    //% if reverse
    return -k;
    //% else
    return k;
    //% end
}

[[gnu::always_inline]] static inline State item_of(const Inputs& inputs, const Run& run, Index k)
{
    return load_item(inputs, run.index + step_of(k), run.position + step_of(k), run.segment);
}

// Scans item k of a run. `is_first` is true if the scan enters the segment with this item.
[[gnu::always_inline]] static inline State scan_step(const Inputs& inputs, const Results& results,
                                                     const Run& run, Index k, State before, bool is_first)
{
    const Index index = run.index + step_of(k);
    const Index position = run.position + step_of(k);
    const State item = item_of(inputs, run, k);
    const State through = is_first ? item : joined(before, item);
    scan_item(inputs, results, before, through, index, position, run.segment);
    return through;
}

//% if associative && !costly_combine
// A block of a long run is cut into pieces that are scanned side by side, so that few items wait for the item
// before. The pieces are folded first, which gives the state before each piece.
constexpr int kPieces = sizeof(State) <= 8 ? 8 : 4;
constexpr Index kPieceItems = 64;

[[gnu::noinline]] static State scan_pieces(const Inputs& inputs, const Results& results, const Run& run,
                                           Index first, State before)
{
    const Inputs columns = inputs;
    const Results all = results;
    State totals[kPieces];
    #pragma GCC unroll 8
    for (int piece = 0; piece < kPieces; ++piece)
        totals[piece] = item_of(columns, run, first + piece * kPieceItems);
    for (Index k = 1; k < kPieceItems; ++k) {
        #pragma GCC unroll 8
        for (int piece = 0; piece < kPieces; ++piece)
            totals[piece] = joined(totals[piece], item_of(columns, run, first + piece * kPieceItems + k));
    }
    State states[kPieces];
    states[0] = before;
    #pragma GCC unroll 8
    for (int piece = 1; piece < kPieces; ++piece)
        states[piece] = joined(states[piece - 1], totals[piece - 1]);
    for (Index k = 0; k < kPieceItems; ++k) {
        #pragma GCC unroll 8
        for (int piece = 0; piece < kPieces; ++piece)
            states[piece] =
                scan_step(columns, all, run, first + piece * kPieceItems + k, states[piece], false);
    }
    return states[kPieces - 1];
}

//% end
// Scans the items `begin` to `end` - 1 of a segment, and returns the state behind them.
static inline State scan_items(const Inputs& inputs, const Results& results, const Segments& segments,
                               Index segment, Index begin, Index end, State before)
{
    const Index start = segment_begin(segments, segment);
    //% if reverse
    const Index first = end - 1;
    const bool is_first = end == segment_end(segments, segment);
    //% else
    const Index first = begin;
    const bool is_first = begin == start;
    //% end
    const Run run = {element_of(segments, segment, first), first - start, segment};
    const Index count = end - begin;
    if (is_first)
        before = scan_step(inputs, results, run, 0, before, true);
    Index k = is_first ? 1 : 0;
    //% if associative && !costly_combine
    for (; count - k >= kPieces * kPieceItems; k += kPieces * kPieceItems)
        before = scan_pieces(inputs, results, run, k, before);
    //% end
    for (; k < count; ++k)
        before = scan_step(inputs, results, run, k, before, false);
    return before;
}

// A share scans its segments one after the other. The first state is the one that the shares before it leave
// open, if there is one.
extern "C" void scan_share(i64 share,
                           const Inputs& inputs,
                           const Segments& segments,
                           //% if associative
                           const State* share_states,
                           //% end
                           const Results& results)
{
    const Share own = share_of(segments, share);
    State state = identity();
    //% if associative
    const i64 num_shares = (i64(segments.num_items) + segments.num_segments + kShareSteps - 1) / kShareSteps;
    if (num_shares > 1)
        state = share_states[share];
    //% end
    //% if reverse
    for (Index segment = own.end.segment; segment >= own.begin.segment; --segment) {
        if (segment == segments.num_segments)
            continue;
        const Index from = segment_begin(segments, segment);
        const bool ends = segment < own.end.segment;
        const Index begin = from < own.begin.item ? own.begin.item : from;
        const Index end = ends ? segment_end(segments, segment) : own.end.item;
        if (ends)
            state = identity();
        if (begin < end)
            state = scan_items(inputs, results, segments, segment, begin, end, state);
        //% if keeps_results || map
        //% if associative
        if (from >= own.begin.item && (ends || from < end))
            store(results, segment, segment_end(segments, segment) - from, state);
        //% else
        if (ends)
            store(results, segment, end - from, fold_in_order(inputs, segments, segment));
        //% end
        //% end
    }
    //% else
    Index item = own.begin.item;
    for (Index segment = own.begin.segment; segment <= own.end.segment; ++segment) {
        const bool ends = segment < own.end.segment;
        const Index end = ends ? segment_end(segments, segment) : own.end.item;
        if (item < end)
            state = scan_items(inputs, results, segments, segment, item, end, state);
        if (!ends)
            break;
        //% if keeps_results || map
        store(results, segment, end - segment_begin(segments, segment), state);
        //% end
        state = identity();
        item = end;
    }
    //% end
}
//% if map

// A share maps the segments that end in it. The launch before has stored all totals.
//% launch  map_share  grid = num_shares  block = 1
//% use     cpu/parts/map_items.h
extern "C" void map_share(i64 share, const Inputs& inputs, const Segments& segments, const Results& results)
{
    const Index end = share_begin(segments, share + 1).segment;
    for (Index segment = share_begin(segments, share).segment; segment < end; ++segment)
        map_items(inputs, results, segments, segment, segment_begin(segments, segment),
                  segment_end(segments, segment));
}
//% end
