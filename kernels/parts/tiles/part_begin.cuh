// Returns the begin of part `part` if `count` things are dealt to `num_parts` parts in order, as evenly as
// possible.
__device__ __forceinline__ Index part_begin(Index count, Index part, Index num_parts)
{
    return part * (count / num_parts) + min(part, count % num_parts);
}
