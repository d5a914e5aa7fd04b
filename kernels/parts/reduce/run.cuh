// What is known of consecutive items: whether a segment ends among them, and the total of those after the
// last end, which is the total of all where none ends.
struct Run {
    State total;
    bool ends;
};

// The segmented operator: associative as combine() is, and never commutative.
__device__ __forceinline__ Run join(Run earlier, Run later)
{
    return {later.ends ? later.total : combine(earlier.total, later.total), earlier.ends || later.ends};
}
