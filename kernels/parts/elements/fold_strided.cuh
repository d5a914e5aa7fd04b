// Folds the elements of a segment that thread `thread` of `num_threads` takes. combine() must commute.
//% if uses_position || uses_segment
// Thread t takes the elements t, t + num_threads, ... of the segment, kItemsPerThread of them at once.
//% else
// Thread t takes the vectors t, t + num_threads, ... of the segment, kItemsPerThread elements at once, but at
// least one vector.
//% end
__device__ __forceinline__ State fold_strided(const Inputs& inputs, Index first, Index length, Index segment,
                                              int thread, int num_threads)
{
    State total = identity();
    //% if uses_position || uses_segment
    Index position = thread;
    const int stride = kItemsPerThread * num_threads;
    for (; position + stride - num_threads < length; position += stride) {
        //% if has_append
        Element elements[kItemsPerThread];
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k)
            elements[k] = load_element(inputs, first + position + k * num_threads);
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k) {
            const Index place = position + k * num_threads;
            total = append_element(total, inputs, elements[k], first + place, place, segment);
        }
        //% else
        State items[kItemsPerThread];
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k) {
            const Index place = position + k * num_threads;
            items[k] = load_item(inputs, first + place, place, segment);
        }
        #pragma unroll
        for (int k = 0; k < kItemsPerThread; ++k)
            total = combine(total, items[k]);
        //% end
    }
    for (; position < length; position += num_threads)
        //% if has_append
        total = append_element(total, inputs, load_element(inputs, first + position), first + position,
                               position, segment);
        //% else
        total = combine(total, load_item(inputs, first + position, position, segment));
        //% end
    //% else
    // Takes the elements before the first whole vector.
    const Index before = min(length, -first & Index(kStepItems - 1));
    if (thread < before)
        total = load_item(inputs, first + thread, thread, segment);
    constexpr int kVectors = (kItemsPerThread + kStepItems - 1) / kStepItems;
    const int stride = kStepItems * num_threads;
    const bool aligned = is_aligned(inputs);
    Index position = before + thread * kStepItems;
    // While enough vectors are left, a thread loads kVectors of them at once.
    for (; aligned && position + (kVectors - 1) * stride + kStepItems <= length;
         position += kVectors * stride) {
        Items items[kVectors];
        #pragma unroll
        for (int k = 0; k < kVectors; ++k)
            items[k] = load_vectors(inputs, first + position + k * stride);
        #pragma unroll
        for (int k = 0; k < kVectors * kStepItems; ++k) {
            const Index index = first + position + k / kStepItems * stride + k % kStepItems;
            //% if has_append
            total = append_item(total, inputs, items[k / kStepItems], k % kStepItems, index);
            //% else
            total = combine(total, lift_item(inputs, items[k / kStepItems], k % kStepItems, index));
            //% end
        }
    }
    // Takes the remaining vectors one at a time.
    #pragma unroll 1
    for (; aligned && position + kStepItems <= length; position += stride) {
        const Items items = load_vectors(inputs, first + position);
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            //% if has_append
            total = append_item(total, inputs, items, k, first + position + k);
            //% else
            total = combine(total, lift_item(inputs, items, k, first + position + k));
            //% end
    }
    // At most one thread finds less than a vector. If arrays are not aligned, all elements are read here, in
    // the same order.
    #pragma unroll 1
    for (; position < length; position += stride) {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (position + k < length)
                //% if has_append
                total = append_element(total, inputs, load_element(inputs, first + position + k),
                                       first + position + k, position + k, segment);
                //% else
                total = combine(total, load_item(inputs, first + position + k, position + k, segment));
                //% end
    }
    //% end
    return total;
}
