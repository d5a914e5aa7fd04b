//% use cpu/parts/segments.h
//% if commutative

[[gnu::always_inline]] static inline void take_item(States& totals, int lane, const Inputs& inputs,
                                                    Index index, Index position, Index segment)
{
    append(totals, lane, load_item(inputs, index, position, segment));
}

[[gnu::always_inline]] static inline void join_lanes(States& totals, int lane, const States& others,
                                                     int other)
{
    append(totals, lane, get(others, other));
}

// Folds the items `begin` to `end` - 1 of a segment. Each lane takes every kLanes-th item and keeps several
// totals, so that no addition waits for the one before.
static inline State fold_items(const Inputs& inputs, const Segments& segments, Index segment, Index begin,
                               Index end)
{
    const Index first = begin < end ? element_of(segments, segment, begin) : 0;
    [[maybe_unused]] const Index position = begin - segment_begin(segments, segment);
    const Index count = end - begin;
    constexpr int kStepItems = kAccumulators * kLanes;
    Index done = 0;
    State total = identity();
    if (count >= kLanes) {
        States totals[kAccumulators];
        #pragma GCC unroll 8
        for (int k = 0; k < kAccumulators; ++k) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane)
                clear(totals[k], lane);
        }
        for (; count - done >= kStepItems; done += kStepItems) {
            #pragma GCC unroll 8
            for (int k = 0; k < kAccumulators; ++k) {
                #pragma omp simd
                for (int lane = 0; lane < kLanes; ++lane) {
                    const Index i = done + k * kLanes + lane;
                    take_item(totals[k], lane, inputs, first + i, position + i, segment);
                }
            }
        }
        for (; count - done >= kLanes; done += kLanes) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane) {
                const Index i = done + lane;
                take_item(totals[0], lane, inputs, first + i, position + i, segment);
            }
        }
        for (int k = 1; k < kAccumulators; ++k) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane)
                join_lanes(totals[0], lane, totals[k], lane);
        }
        #pragma GCC unroll 4
        for (int half = kLanes / 2; half > 0; half /= 2) {
            #pragma omp simd
            for (int lane = 0; lane < half; ++lane)
                join_lanes(totals[0], lane, totals[0], lane + half);
        }
        total = get(totals[0], 0);
    }
    for (; done < count; ++done)
        total = combine(total, load_item(inputs, first + done, position + done, segment));
    return total;
}
//% else

[[gnu::always_inline]] static inline void take_item(States& totals, int lane, const Inputs& inputs,
                                                    const Items& items, int k, Index index, Index position,
                                                    Index segment)
{
    append(totals, lane, lift_item(inputs, items, k, lane, index, position, segment));
}

// Folds the items `begin` to `end` - 1 of a segment. Each lane takes consecutive items, and the lanes' totals
// are joined from left to right.
static inline State fold_items(const Inputs& inputs, const Segments& segments, Index segment, Index begin,
                               Index end)
{
    constexpr int kLaneItems = 8 * kColumns;
    const Index first = begin < end ? element_of(segments, segment, begin) : 0;
    [[maybe_unused]] const Index position = begin - segment_begin(segments, segment);
    const Index count = end - begin;
    Index done = 0;
    State total = identity();
    while (count - done >= kLanes * kColumns) {
        const int lane_items = count - done >= kLanes * kLaneItems ? kLaneItems : kColumns;
        States totals;
        #pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            clear(totals, lane);
        Items items;
        for (int taken = 0; taken < lane_items; taken += kColumns) {
            take_items(items, inputs, first + done + taken, lane_items);
            for (int k = 0; k < kColumns; ++k) {
                #pragma omp simd
                for (int lane = 0; lane < kLanes; ++lane) {
                    const Index i = done + taken + k + lane * lane_items;
                    take_item(totals, lane, inputs, items, k, first + i, position + i, segment);
                }
            }
        }
        for (int lane = 0; lane < kLanes; ++lane)
            total = combine(total, get(totals, lane));
        done += kLanes * lane_items;
    }
    for (; done < count; ++done)
        total = combine(total, load_item(inputs, first + done, position + done, segment));
    return total;
}
//% end
