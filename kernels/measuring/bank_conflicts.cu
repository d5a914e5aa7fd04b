//% probe   bank_conflicts
//% title   Each lane adds up rows of a matrix in shared memory, so that lanes are a row apart
//% source  Badgujar 2014, shared memory bank conflicts
//% tune    stride = 1, 2, 4, 8, 16, 32
//% tune    padding = 0, 1
//% tune    item_bytes = 4, 8
//% tune    rounds = 64
//% tune    block_threads = 256
//% if item_bytes == 8
//% input   values : u64[1024]
//% output  results : u64[num_elements]
//% else
//% input   values : unsigned[1024]
//% output  results : unsigned[num_elements]
//% end
//% moves   num_elements * rounds * 32 * item_bytes
//% launch  bank_conflicts  grid = ceil_div(num_elements, block_threads)  block = block_threads

//% if item_bytes == 8
using Item = unsigned long long;
//% else
using Item = unsigned;
//% end

// Shared memory holds 1024 items in rows of kStride items, with kPadding items between them. Lanes read the
// same column of 32 neighbouring rows, as in a transposition. With rows of 32 items, all these items lie in
// one bank; with one item between rows, each lies in a bank of its own.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
bank_conflicts(const Item* values,
               Item* results,
               int num_elements)
{
    constexpr int kPitch = kStride + kPadding;
    __shared__ Item rows[1024 / kStride * kPitch];
    for (int k = int(threadIdx.x); k < 1024; k += kBlockThreads)
        rows[k / kStride * kPitch + k % kStride] = values[k];
    __syncthreads();  // all rows are written

    Item total = 0;
    #pragma unroll 1
    for (unsigned round = 0; round < kRounds; ++round) {
        // Each round reads other rows, because compilers would keep the same ones in registers. Every round
        // reads 32 items.
        const Item* own = rows + (threadIdx.x + round) % 32 * kPitch;
        #pragma unroll
        for (int pass = 0; pass < 32 / kStride; ++pass)
            #pragma unroll
            for (int k = 0; k < kStride; ++k)
                total = total * 5 + own[pass * 32 * kPitch + k];
    }
    const int i = int(blockIdx.x) * kBlockThreads + int(threadIdx.x);
    if (i < num_elements)
        results[i] = total;
}
