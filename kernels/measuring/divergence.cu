//% probe   divergence
//% title   Groups of threads by turns take one of two paths of equal length
//% source  Badgujar 2014, branch granularity
//% tune    granularity = 1, 2, 4, 8, 16, 32, 64, 128, 256
//% tune    rounds = 256
//% tune    block_threads = 256
//% input   values : unsigned[num_elements]
//% output  results : unsigned[num_elements]
//% moves   8 * num_elements
//% launch  divergence  grid = ceil_div(num_elements, block_threads)  block = block_threads

// Groups of kGranularity threads take the two paths by turns. If groups are smaller than a warp, each warp
// walks both paths, one after the other. Otherwise each warp walks one path. If a group is a whole block, all
// threads take the first path.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
divergence(const unsigned* values,
           unsigned* results,
           int num_elements)
{
    const int i = int(blockIdx.x) * kBlockThreads + int(threadIdx.x);
    if (i >= num_elements)
        return;
    unsigned x = values[i];
    if (threadIdx.x / kGranularity % 2 == 0) {
        #pragma unroll 8
        for (int round = 0; round < kRounds; ++round)
            x = (x ^ x >> 15) * 2246822519u;
    } else {
        #pragma unroll 8
        for (int round = 0; round < kRounds; ++round)
            x = (x ^ x >> 13) * 3266489917u;
    }
    results[i] = x;
}
