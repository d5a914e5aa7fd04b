// Who comes when: blocks that change flags and note it.

// Each block takes two tickets; order[ticket] is the block that took it.
extern "C" __global__ void tickets(unsigned* next, unsigned* order)
{
    for (int i = 0; i < 2; ++i)
        order[atomicAdd(next, 1)] = blockIdx.x;
}

// The threads of a block take one ticket each, without a wait between them.
extern "C" __global__ void threads_tickets(unsigned* next, unsigned* order)
{
    order[atomicAdd(next, 1)] = threadIdx.x;
}

// The most blocks that were at a time between their two changes of `inside`.
extern "C" __global__ void crowd(unsigned* inside, unsigned* most)
{
    atomicMax(most, atomicAdd(inside, 1) + 1);
    atomicSub(inside, 1);
}
