// Folds the first `count` of the kItemsPerThread elements from `index` on, in their order. `position` is the
// place of the first element in `segment`.
__device__ __forceinline__ State fold_consecutive(const Inputs& inputs,
                                                  Index index,
                                                  Index position,
                                                  Index segment,
                                                  Index count)
{
    State total = identity();
    //% if uses_position || uses_segment
    #pragma unroll
    for (int k = 0; k < kItemsPerThread; ++k)
        if (k < count)
            //% if has_append
            total = append_element(total, inputs, load_element(inputs, index + k), index + k, position + k,
                                   segment);
            //% else
            total = combine(total, load_item(inputs, index + k, position + k, segment));
            //% end
    //% else
    // Reads vectors if the address allows. Element by element, a warp would read each line of memory many
    // times.
    constexpr int kVectors = (kItemsPerThread + kStepItems - 1) / kStepItems;
    const int items_there = int(max(min(count, Index(kItemsPerThread)), Index(0)));
    Items items[kVectors];
    #pragma unroll
    for (int k = 0; k < kVectors; ++k)
        items[k] = load_items(inputs, index + k * kStepItems, items_there - k * kStepItems);
    #pragma unroll
    for (int k = 0; k < kItemsPerThread; ++k)
        if (k < items_there)
            //% if has_append
            total = append_item(total, inputs, items[k / kStepItems], k % kStepItems, index + k);
            //% else
            total = combine(total, lift_item(inputs, items[k / kStepItems], k % kStepItems, index + k));
            //% end
    //% end
    return total;
}
