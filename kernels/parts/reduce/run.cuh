// What is known of consecutive items: whether a segment ends among them, and the total of those after the
// last end, which is the total of all where none ends.
struct Run {
    State total;
    bool ends;
};

// The segmented operator: associative as combine() is, and never commutative.
__device__ __forceinline__ Run join(Run earlier, Run later)
{
    //% if reverse
    // A scan from the end meets the later items first.
    return {later.ends ? later.total : combine(later.total, earlier.total), earlier.ends || later.ends};
    //% else
    return {later.ends ? later.total : combine(earlier.total, later.total), earlier.ends || later.ends};
    //% end
}
