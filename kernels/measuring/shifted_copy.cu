//% probe   shifted_copy
//% title   A copy whose warps begin some elements behind a cache line
//% source  Badgujar 2014, misalignedCopy
//% tune    offset = 0..32
//% tune    block_threads = 256, 128, 512
//% input   values : unsigned[num_elements + 32]
//% output  results : unsigned[num_elements + 32]
//% moves   8 * num_elements
//% launch  shifted_copy  grid = ceil_div(num_elements, block_threads)  block = block_threads

// If the offset is no multiple of 32 elements, the reads and writes of a warp span two cache lines.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
shifted_copy(const unsigned* values,
             unsigned* results,
             int num_elements)
{
    const int i = int(blockIdx.x) * kBlockThreads + int(threadIdx.x);
    if (i < num_elements)
        results[i + kOffset] = values[i + kOffset];
}
