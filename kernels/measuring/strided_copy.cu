//% probe   strided_copy
//% title   A copy whose neighbouring threads take elements some places apart
//% source  Badgujar 2014, strideExample
//% tune    stride = 1..32
//% tune    block_threads = 256, 128, 512
//% input   values : unsigned[num_elements * stride]
//% output  results : unsigned[num_elements * stride]
//% moves   8 * num_elements
//% launch  strided_copy  grid = ceil_div(num_elements, block_threads)  block = block_threads

// Memory moves whole sectors, but only the bytes that threads ask for count as moved here.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
strided_copy(const unsigned* values,
             unsigned* results,
             int num_elements)
{
    const int i = int(blockIdx.x) * kBlockThreads + int(threadIdx.x);
    if (i < num_elements)
        results[i * kStride] = values[i * kStride];
}
