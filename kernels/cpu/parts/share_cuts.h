//% use cpu/parts/segments.h

// A place on the path that passes every item and, behind its last item, the end of every segment.
struct Cut {
    Index item;     // the first that is not passed
    Index segment;  // the first whose end is not passed
};

// Where a share begins. Shares are equal steps of the path, so each has as many items and ends as any other.
static inline Cut share_begin(const Segments& segments, i64 share)
{
    i64 steps = share * kShareSteps;
    if (steps > i64(segments.num_items) + segments.num_segments)
        steps = i64(segments.num_items) + segments.num_segments;
    Index low = 0;
    Index high = segments.num_segments;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (i64(segment_end(segments, middle)) + middle + 1 <= steps)
            low = middle + 1;
        else
            high = middle;
    }
    return {Index(steps - low), low};
}
