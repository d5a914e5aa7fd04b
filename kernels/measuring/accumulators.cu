//% probe   accumulators
//% title   The sums of a thread in registers (0), shared (1), local (2) or global memory (3)
//% source  Badgujar 2014, GPU memory types
//% tune    memory = 0, 1, 2, 3
//% tune    sums = 16
//% tune    rounds = 64
//% tune    block_threads = 256
//% input   values : unsigned[num_elements]
//% output  results : unsigned[num_elements]
//% if memory == 3
//% scratch all_sums : unsigned[sums * ceil_div(num_elements, block_threads) * block_threads]
//% end
//% moves   num_elements * rounds * sums * 8
//% launch  accumulate  grid = ceil_div(num_elements, block_threads)  block = block_threads

// Every round reads and writes each of the thread's kSums sums. If sums are not kept in registers, each round
// begins with a sum that a word of the data chooses, the same for all threads of a block. So no compiler can
// keep the sums in registers, and an array lies in local memory. Neighbouring threads touch neighbouring
// words.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
accumulate(const unsigned* values,
           //% if memory == 3
           unsigned* all_sums,
           //% end
           unsigned* results,
           int num_elements)
{
    const int i = int(blockIdx.x) * kBlockThreads + int(threadIdx.x);
    if (i >= num_elements)
        return;
    const unsigned x = values[i];
    //% if memory != 0
    const unsigned shift = values[blockIdx.x];
    //% end
    //% if memory == 0 || memory == 2
    unsigned sums[kSums];
    #pragma unroll
    for (int k = 0; k < kSums; ++k)
        sums[k] = x + unsigned(k);
    //% elif memory == 1
    __shared__ unsigned block_sums[kSums * kBlockThreads];
    unsigned* sums = block_sums + threadIdx.x;  // every kBlockThreads-th sum is this thread's
    #pragma unroll 1
    for (int k = 0; k < kSums; ++k)
        sums[k * kBlockThreads] = x + unsigned(k);
    //% else
    const int stride = int(gridDim.x) * kBlockThreads;
    unsigned* sums = all_sums + i;  // every stride-th sum is this thread's
    #pragma unroll 1
    for (int k = 0; k < kSums; ++k)
        sums[k * stride] = x + unsigned(k);
    //% end

    #pragma unroll 1
    for (unsigned round = 0; round < kRounds; ++round) {
        //% if memory == 0
        #pragma unroll
        for (int k = 0; k < kSums; ++k)
            sums[k] = sums[k] * 5 + (round ^ x);
        //% else
        #pragma unroll 1
        for (unsigned k = 0; k < kSums; ++k) {
            const unsigned own = (k + shift) % kSums;
            //% if memory == 1
            unsigned& sum = sums[own * kBlockThreads];
            //% elif memory == 2
            unsigned& sum = sums[own];
            //% else
            unsigned& sum = sums[own * stride];
            //% end
            sum = sum * 5 + (round ^ x);
        }
        //% end
    }

    unsigned total = 0;
    //% if memory == 0
    #pragma unroll
    //% else
    #pragma unroll 1
    //% end
    for (int k = 0; k < kSums; ++k)
        //% if memory == 1
        total = total * 31 + sums[k * kBlockThreads];
        //% elif memory == 3
        total = total * 31 + sums[k * stride];
        //% else
        total = total * 31 + sums[k];
        //% end
    results[i] = total;
}
