//% use cpu/parts/segments.h
//% if commutative

// The total of the items `begin` to `end` - 1 of a segment. Each lane takes every kLanes-th item, in several
// totals at once, so that no addition waits for the one before.
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
                put(totals[k], lane, identity());
        }
        for (; count - done >= kStepItems; done += kStepItems) {
            #pragma GCC unroll 8
            for (int k = 0; k < kAccumulators; ++k) {
                #pragma omp simd
                for (int lane = 0; lane < kLanes; ++lane) {
                    const Index i = done + k * kLanes + lane;
                    const State item = load_item(inputs, first + i, position + i, segment);
                    put(totals[k], lane, combine(get(totals[k], lane), item));
                }
            }
        }
        for (; count - done >= kLanes; done += kLanes) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane) {
                const Index i = done + lane;
                const State item = load_item(inputs, first + i, position + i, segment);
                put(totals[0], lane, combine(get(totals[0], lane), item));
            }
        }
        for (int k = 1; k < kAccumulators; ++k) {
            #pragma omp simd
            for (int lane = 0; lane < kLanes; ++lane)
                put(totals[0], lane, combine(get(totals[0], lane), get(totals[k], lane)));
        }
        #pragma GCC unroll 4
        for (int half = kLanes / 2; half > 0; half /= 2) {
            #pragma omp simd
            for (int lane = 0; lane < half; ++lane)
                put(totals[0], lane, combine(get(totals[0], lane), get(totals[0], lane + half)));
        }
        total = get(totals[0], 0);
    }
    for (; done < count; ++done)
        total = combine(total, load_item(inputs, first + done, position + done, segment));
    return total;
}
//% else

// The total of the items `begin` to `end` - 1 of a segment. Each lane takes consecutive items, and the lanes'
// totals are joined from left to right.
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
            put(totals, lane, identity());
        Items items;
        for (int taken = 0; taken < lane_items; taken += kColumns) {
            take_items(items, inputs, first + done + taken, lane_items);
            for (int k = 0; k < kColumns; ++k) {
                #pragma omp simd
                for (int lane = 0; lane < kLanes; ++lane) {
                    const Index i = done + taken + k + lane * lane_items;
                    const State item = lift_item(inputs, items, k, lane, first + i, position + i, segment);
                    put(totals, lane, combine(get(totals, lane), item));
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
