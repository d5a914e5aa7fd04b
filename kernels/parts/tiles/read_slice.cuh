//% use parts/tiles/slice_runs.cuh
// Reads the items of a warp's slice. Items behind the last one become the identity. A warp reads the whole
// slice at once.
__device__ __forceinline__ void read_slice(State (&items)[kItems], const Inputs& inputs,
                                           const Segments& segments, Index begin)
{
    if (begin + kSliceItems <= segments.num_items && (!kInVectors || is_aligned(inputs))) {
        #pragma unroll
        for (int k = 0; k < kItems; k += kUnit) {
            const Index index = begin + read_place(k);
            if (!kInVectors) {
                items[k] = load_item(inputs, index, 0, 0);
                continue;
            }
            const Items some = load_vectors(inputs, index);
            #pragma unroll
            for (int item = 0; item < kUnit; ++item)
                items[k + item] = lift_item(inputs, some, item, index + item);
        }
        return;
    }
    #pragma unroll
    for (int k = 0; k < kItems; ++k) {
        const Index item = begin + read_place(k);
        items[k] = identity();
        if (item < segments.num_items)
            items[k] = load_item(inputs, item, 0, 0);
    }
}

__device__ __forceinline__ void stage_slice(State* staged, const State (&items)[kItems])
{
    #pragma unroll
    for (int k = 0; k < kItems; k += kUnit) {
        Unit unit;
        #pragma unroll
        for (int item = 0; item < kUnit; ++item)
            unit.at[item] = items[k + item];
        *reinterpret_cast<Unit*>(staged + staged_place(read_place(k))) = unit;
    }
}
