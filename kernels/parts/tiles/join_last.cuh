//% use parts/reduce/block_reduce.cuh
// Leaves the total of part `part` of `num_parts`, which thread 0 has. The block that is the last to come
// joins the totals of all parts, in order, to its thread 0 and gets true. All threads of a block call it;
// between two calls there is a barrier.
__device__ __forceinline__ bool join_last(State* partials, unsigned* ticket, int part, int num_parts,
                                          State& total)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partials[part] = total;
        __threadfence();  // the partial is seen before the ticket is
        last = atomicInc(ticket, num_parts - 1) == num_parts - 1;  // wraps to 0, ready for the next launch
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!last)
        return false;
    __threadfence();  // the other blocks' partials are read after their tickets

    // Each thread joins a few consecutive ones.
    const int share = (num_parts + kBlockThreads - 1) / kBlockThreads;
    total = identity();
    #pragma unroll 1
    for (int k = 0; k < share; ++k) {
        const int mine = threadIdx.x * share + k;
        if (mine < num_parts)
            total = combine(total, partials[mine]);
    }
    total = block_reduce(total);
    __syncthreads();  // the warps' totals have been read, the next call may write them
    return true;
}
