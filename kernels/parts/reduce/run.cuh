// The fold of consecutive items: whether a segment ends among them, and the total of the items behind the
// last end, or of all items if no segment ends.
struct Run {
    State total;
    bool ends;
};

// The operator on runs. It is associative like combine(), and never commutative.
__device__ __forceinline__ Run join(Run earlier, Run later)
{
    //% if reverse
    // A scan from the end meets the later items first.
    return {later.ends ? later.total : combine(later.total, earlier.total), earlier.ends || later.ends};
    //% else
    return {later.ends ? later.total : combine(earlier.total, later.total), earlier.ends || later.ends};
    //% end
}
