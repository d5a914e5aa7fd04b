//% stage   row_tree
//% title   Rows of 16 items, 16 rows joined in one tree, 16 segments side by side
//% after   lane_scan
//% source  Bell & Garland 2009, section 4.3, CSR (vector)
//% layout  uniform, offsets
//% needs   associative, element_bytes > 0, !uses_position, !uses_segment
//% let     totals = 16 * 17
//% tune    share_steps = 65536, 1024, 16384, 262144
//% tune    accumulators = 4, 2, 8
//% use     cpu/parts/share_cuts.h
//% use     cpu/parts/join_shares.h
//% if map
//% use     cpu/parts/map_shares.h
//% end
//% use     cpu/parts/fold_items.h

// A row consists of kLanes consecutive items of a segment; the last row may have fewer. Segments of up to
// kLanes rows are folded by trees. A longer segment is folded alone.
constexpr Index kMostLength = kLanes * kLanes;

// Rows of a group of segments, one behind the other. There is room for one more vector of rows.
struct Rows {
    alignas(64) Index begin[kMostLength + kLanes];
    alignas(64) Index length[kMostLength + kLanes];
};

// Segments whose extents are looked up at once, long before they are used: a processor does not forward parts
// of a vector that it has just stored.
constexpr int kBlockSegments = 16 * kLanes;

struct Extents {
    alignas(64) Index begin[kBlockSegments];
    alignas(64) Index length[kBlockSegments];
};

[[gnu::always_inline]] static inline void lift_lane(States& row, int lane, const Inputs& inputs,
                                                    const Items& items, Index begin)
{
    put(row, lane, lift_item(inputs, items, 0, lane, begin + lane, 0, 0));
}

[[gnu::always_inline]] static inline void join_lane(States& joined, int lane, const States& earlier,
                                                    const States& later)
{
    put(joined, lane, combine(get(earlier, lane), get(later, lane)));
}

[[gnu::always_inline]] static inline void join_vectors(States& joined, const States& earlier,
                                                       const States& later)
{
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        join_lane(joined, lane, earlier, later);
}

[[gnu::always_inline]] static inline void clip_row(States& row, Index length)
{
    States neutral;
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        clear(neutral, lane);
    clip(row, neutral, length);
}

// Joins neighbouring lanes of each row until one state is left. Lane k of `totals` gets the total of row k.
[[gnu::always_inline]] static inline void join_rows(States& totals, States* rows)
{
    #pragma GCC unroll 4
    for (int level = 0; level < 4; ++level) {
        #pragma GCC unroll 8
        for (int k = 0; k < kLanes >> (level + 1); ++k) {
            States earlier, later;
            part_lanes(earlier, later, rows[2 * k], rows[2 * k + 1], level);
            join_vectors(level == 3 ? totals : rows[k], earlier, later);
        }
    }
}

// Folds kLanes rows; lane k of `totals` gets the total of row k. This function is not inlined, because a
// compiler that sees how `begin` was computed takes its numbers out of vectors one by one.
[[gnu::noinline]] static void fold_rows(States& totals, const Inputs& inputs, const Index* begin,
                                        const Index* length)
{
    States rows[kLanes];
    #pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) {
        Items items;
        take_row(items, inputs, begin[k]);
        #pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            lift_lane(rows[k], lane, inputs, items, begin[k]);
        clip_row(rows[k], length[k]);
    }
    join_rows(totals, rows);
}

// Joins the totals of each segment's rows. Segment k has counts[k] rows, from row begins[k] on.
[[gnu::noinline]] static void join_segments(States& totals, const Totals& row_totals, const Index* begins,
                                            const Index* counts)
{
    States rows[kLanes];
    #pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) {
        take_totals(rows[k], row_totals, begins[k]);
        clip_row(rows[k], counts[k]);
    }
    join_rows(totals, rows);
}

// Writes the rows of kLanes segments one behind the other and returns the number of rows. Whole vectors are
// written, and the next segment overwrites what is too much.
[[gnu::noinline]] static Index list_rows(Rows& rows, Index* begins, Index* counts, const Index* begin,
                                         const Index* length)
{
    #pragma omp simd
    for (int k = 0; k < kLanes; ++k)
        counts[k] = unsigned(length[k] + kLanes - 1) / kLanes;
    Index num_rows = 0;
    #pragma GCC unroll 1
    for (int k = 0; k < kLanes; ++k) {
        begins[k] = num_rows;
        #pragma omp simd
        for (int row = 0; row < kLanes; ++row) {
            const Index left = length[k] - row * kLanes;
            rows.begin[num_rows + row] = begin[k] + row * kLanes;
            rows.length[num_rows + row] = left < kLanes ? left : kLanes;
        }
        num_rows += counts[k];
    }
    #pragma omp simd
    for (int row = 0; row < kLanes; ++row) {
        rows.begin[num_rows + row] = begin[0];
        rows.length[num_rows + row] = 0;
    }
    return num_rows;
}

// Lists row `round` of each of kLanes segments. A segment that has no such row gets a row of length 0.
static inline void list_round(Rows& rows, Index round, const Index* begin, const Index* length)
{
    #pragma omp simd
    for (int k = 0; k < kLanes; ++k) {
        const Index left = length[k] - round * kLanes;
        const Index full = left < kLanes ? left : kLanes;
        rows.begin[k] = left > 0 ? begin[k] + round * kLanes : begin[k];
        rows.length[k] = full > 0 ? full : 0;
    }
}

[[gnu::always_inline]] static inline void store_lane(const Results& results, Index segment, Index length,
                                                     const States& totals, int lane)
{
    store(results, segment, length, get(totals, lane));
}

// Folds kLanes segments to `totals`. None of them is longer than kMostLength.
static inline void fold_short(States& totals, const Inputs& inputs, const Index* begin, const Index* length,
                              Index longest)
{
    if (longest <= kLanes) {
        fold_rows(totals, inputs, begin, length);
        return;
    }
    Rows rows;
    if (longest <= 2 * kLanes) {
        States first, second;
        list_round(rows, 0, begin, length);
        fold_rows(first, inputs, rows.begin, rows.length);
        list_round(rows, 1, begin, length);
        fold_rows(second, inputs, rows.begin, rows.length);
        join_vectors(totals, first, second);
        return;
    }
    alignas(64) Index begins[kLanes];
    alignas(64) Index counts[kLanes];
    const Index num_rows = list_rows(rows, begins, counts, begin, length);
    Totals row_totals;
    for (Index done = 0; done < num_rows; done += kLanes) {
        States part;
        fold_rows(part, inputs, rows.begin + done, rows.length + done);
        keep_totals(row_totals, done, part);
    }
    join_segments(totals, row_totals, begins, counts);
}

// Folds kLanes segments from `first` on and stores their results.
static inline void fold_group(const Inputs& inputs, const Segments& segments, const Results& results,
                              Index first, const Index* begin, const Index* length)
{
    Index longest = 0;
    #pragma omp simd reduction(max : longest)
    for (int k = 0; k < kLanes; ++k)
        longest = length[k] > longest ? length[k] : longest;
    States totals;
    if (longest <= kMostLength)
        fold_short(totals, inputs, begin, length, longest);
    else {
        alignas(64) Index short_length[kLanes];
        Index longest_short = 0;
        for (int k = 0; k < kLanes; ++k) {
            short_length[k] = length[k] > kMostLength ? 0 : length[k];
            longest_short = short_length[k] > longest_short ? short_length[k] : longest_short;
        }
        fold_short(totals, inputs, begin, short_length, longest_short);
        for (int k = 0; k < kLanes; ++k)
            if (length[k] > kMostLength)
                put(totals, k, fold_items(inputs, segments, first + k, begin[k], begin[k] + length[k]));
    }
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        store_lane(results, first + lane, length[lane], totals, lane);
}

[[gnu::noinline]] static void find_extents(Extents& extents, const Segments& segments, Index first, int count)
{
    const Segments all = segments;
    #pragma omp simd
    for (int k = 0; k < count; ++k) {
        const Index begin = segment_begin(all, first + k);
        extents.begin[k] = begin;
        extents.length[k] = segment_end(all, first + k) - begin;
    }
}

// A share folds the segments between its two cuts. Its part of a segment that began before the share, and its
// part of one that goes on behind the share, wait for join_shares.
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
    Index segment = begin.segment;
    if (segment < end.segment && segment_begin(segments, segment) < item) {
        const Index last = segment_end(segments, segment);
        share_heads[share] = fold_items(inputs, segments, segment, item, last);
        item = last;
        ++segment;
    }
    // Rows are read whole, so groups must end at least kLanes items before the end of the input. Other
    // segments are folded one by one.
    Extents extents;
    while (end.segment - segment >= kLanes) {
        const Index left = (end.segment - segment) / kLanes * kLanes;
        const int count = left < kBlockSegments ? left : kBlockSegments;
        if (segments.num_items - segment_begin(segments, segment + count) < kLanes)
            break;
        find_extents(extents, segments, segment, count);
        for (int done = 0; done < count; done += kLanes)
            fold_group(inputs, segments, results, segment + done, extents.begin + done,
                       extents.length + done);
        segment += count;
        item = segment_begin(segments, segment);
    }
    for (; segment < end.segment; ++segment) {
        const Index last = segment_end(segments, segment);
        store(results, segment, last - item, fold_items(inputs, segments, segment, item, last));
        item = last;
    }
    share_tails[share] =
        item < end.item ? fold_items(inputs, segments, end.segment, item, end.item) : identity();
    //% if map
    map_inside(inputs, results, segments, begin.item, begin.segment, end.segment);
    //% end
}
