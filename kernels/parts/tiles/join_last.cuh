//% use parts/reduce/block_reduce.cuh
// Stores the total of part `part` of `num_parts`, which thread 0 has. The last block to come joins the totals
// of all parts in order, to its thread 0, and gets true. All threads of a block call it. Two calls need a
// barrier between them.
__device__ __forceinline__ bool join_last(State* partials, unsigned* ticket, int part, int num_parts,
                                          State& total)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partials[part] = total;
        __threadfence();  // others see the partial before the ticket
        last = atomicInc(ticket, num_parts - 1) == num_parts - 1;  // wraps to 0, ready for the next launch
    }
    __syncthreads();  // all threads know whether theirs is the last block
    if (!last)
        return false;
    __threadfence();  // reads the other blocks' partials after their tickets

    // Each thread joins a few consecutive totals.
    const int share = (num_parts + kBlockThreads - 1) / kBlockThreads;
    total = identity();
    #pragma unroll 1
    for (int k = 0; k < share; ++k) {
        const int mine = threadIdx.x * share + k;
        if (mine < num_parts)
            total = combine(total, partials[mine]);
    }
    total = block_reduce(total);
    __syncthreads();  // the warps' totals have been read, so the next call may write them
    return true;
}
