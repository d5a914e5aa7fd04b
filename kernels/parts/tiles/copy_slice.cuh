//% use parts/tiles/slice_runs.cuh
// Starts a copy of 8 bytes from global to shared memory, past registers; both addresses are multiples of 8.
__device__ __forceinline__ void copy_double_async(void* to, const void* from)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(shared), "l"(from) : "memory");
}

// Waits for all copies of this thread.
__device__ __forceinline__ void wait_for_items()
{
    asm volatile("cp.async.wait_all;" : : : "memory");
}

// Has the items of a warp's slice copied to where they are staged, the identity behind the last one. They are
// there after a wait.
__device__ __forceinline__ void copy_slice(State* staged, const Inputs& inputs, const Segments& segments,
                                           Index begin)
{
    const bool is_full = begin + kSliceItems <= segments.num_items;
    #pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const Index item = begin + read_place(k);
        State* const place = staged + staged_place(read_place(k));
        if (is_full || item < segments.num_items)
            copy_double_async(place, element_address(inputs, item));
        else
            *place = identity();
    }
}
