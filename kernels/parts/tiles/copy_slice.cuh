//% use parts/elements/async_copy.cuh
//% use parts/tiles/slice_runs.cuh
// Starts a copy of a state of four or eight bytes from global to shared memory.
__device__ __forceinline__ void copy_state_async(State* to, const void* from)
{
    if (sizeof(State) == 4) {
        copy_word_async(to, from);
        return;
    }
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(shared), "l"(from) : "memory");
}

// Starts to copy the items of a warp's slice to their staged places, bypassing registers. Places behind the
// last item get the identity. The items may be read after a wait.
__device__ __forceinline__ void copy_slice(State* staged, const Inputs& inputs, const Segments& segments,
                                           Index begin)
{
    const bool is_full = begin + kSliceItems <= segments.num_items;
    if (kInVectors && is_full && (unsigned long long)element_address(inputs, begin) % sizeof(Unit) == 0) {
        #pragma unroll
        for (int k = 0; k < kItems; k += kUnit)
            copy_async(staged + staged_place(read_place(k)), element_address(inputs, begin + read_place(k)));
        return;
    }
    #pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const Index item = begin + read_place(k);
        State* const place = staged + staged_place(read_place(k));
        if (is_full || item < segments.num_items)
            copy_state_async(place, element_address(inputs, item));
        else
            *place = identity();
    }
}
