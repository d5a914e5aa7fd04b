// keys_of_offsets32, keys_of_offsets64(offsets, num_segments, num_elements, keys) and keys_of_length(length,
// num_elements, keys) write each element's segment number.
//
// An element belongs to the last segment that begins at or before it. This segment is not empty: an empty
// segment begins where the next one begins, except at the end of the data.
template <class Index>
__device__ __forceinline__ void keys_of(const Index* offsets, long long num_segments, long long num_elements, int* keys)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < num_elements; i += stride) {
        long long low = 0, high = num_segments;
        while (high - low > 1) {
            const long long middle = (low + high) / 2;
            if (offsets[middle] <= i)
                low = middle;
            else
                high = middle;
        }
        keys[i] = int(low);
    }
}

extern "C" __global__ void keys_of_offsets32(const int* offsets, long long num_segments, long long num_elements,
                                             int* keys)
{
    keys_of(offsets, num_segments, num_elements, keys);
}

extern "C" __global__ void keys_of_offsets64(const long long* offsets, long long num_segments, long long num_elements,
                                             int* keys)
{
    keys_of(offsets, num_segments, num_elements, keys);
}

extern "C" __global__ void keys_of_length(long long length, long long num_elements, int* keys)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < num_elements; i += stride)
        keys[i] = int(i / length);
}
