//% use cpu/parts/segments.h

// A place on the path that passes every item and every end of a segment. The end of a segment comes behind
// its last item.
struct Cut {
    Index item;     // the first item that is not passed
    Index segment;  // the first segment whose end is not passed
};

// Returns the begin of a share. Shares have equal numbers of steps on the path, so each has as many items and
// ends as any other.
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
