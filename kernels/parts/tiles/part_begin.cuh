// Where part `part` of `count` things begins that are dealt to `num_parts` as evenly as can be, in order.
__device__ __forceinline__ Index part_begin(Index count, Index part, Index num_parts)
{
    return part * (count / num_parts) + min(part, count % num_parts);
}
