// From lengths or ranges on a GPU to the offsets of items along the segments: an exclusive sum in three launches.
// `Index` is int or long long; the text is compiled as it is behind `using Index = ...;`.

constexpr int kThreads = 256;
constexpr int kItems = 16;
constexpr int kTile = kThreads * kItems;

// The length of a segment: ends are null where begins are lengths already.
__device__ __forceinline__ Index length_of(const Index* begins, const Index* ends, long long segment)
{
    return ends != nullptr ? ends[segment] - begins[segment] : begins[segment];
}

// The sum of `value` over the threads before this one; `total` is that of all.
__device__ __forceinline__ Index sum_before(Index value, Index* warps, Index& total)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Index sum = value;
    for (int delta = 1; delta < 32; delta *= 2) {
        const Index earlier = __shfl_up_sync(0xffffffffu, sum, delta);
        if (lane >= delta)
            sum += earlier;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    Index before = 0;
    total = 0;
    for (int i = 0; i < kThreads / 32; ++i) {
        if (i < warp)
            before += warps[i];
        total += warps[i];
    }
    __syncthreads();
    return before + sum - value;
}

// The sum of each tile of lengths. Grid: ceil(num_segments / kTile).
extern "C" __global__ void __launch_bounds__(kThreads)
    sum_tiles(const Index* begins, const Index* ends, Index* sums, long long num_segments)
{
    __shared__ Index warps[kThreads / 32];
    const long long tile = (long long)blockIdx.x * kTile;
    Index sum = 0;
    for (int i = 0; i < kItems; ++i) {
        const long long segment = tile + i * kThreads + threadIdx.x;
        if (segment < num_segments)
            sum += length_of(begins, ends, segment);
    }
    Index total;
    sum_before(sum, warps, total);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}

// Sums of tiles become the sums of the tiles before. Grid: 1.
extern "C" __global__ void __launch_bounds__(kThreads) scan_tiles(Index* sums, long long num_tiles)
{
    __shared__ Index warps[kThreads / 32];
    Index carry = 0;
    for (long long first = 0; first < num_tiles; first += kThreads) {
        const long long tile = first + threadIdx.x;
        Index total;
        const Index before = sum_before(tile < num_tiles ? sums[tile] : 0, warps, total);
        if (tile < num_tiles)
            sums[tile] = carry + before;
        carry += total;
    }
}

// The offsets of each tile, and at their end the sum of all. Grid: as sum_tiles.
extern "C" __global__ void __launch_bounds__(kThreads)
    write_offsets(const Index* begins, const Index* ends, const Index* sums, Index* offsets, long long num_segments)
{
    __shared__ Index warps[kThreads / 32];
    const long long first = (long long)blockIdx.x * kTile + (long long)threadIdx.x * kItems;
    Index lengths[kItems];
    Index sum = 0;
    for (int i = 0; i < kItems; ++i) {
        lengths[i] = first + i < num_segments ? length_of(begins, ends, first + i) : 0;
        sum += lengths[i];
    }
    Index total;
    Index offset = sums[blockIdx.x] + sum_before(sum, warps, total);
    for (int i = 0; i < kItems; ++i) {
        if (first + i < num_segments)
            offsets[first + i] = offset;
        offset += lengths[i];
        if (first + i + 1 == num_segments)
            offsets[num_segments] = offset;
    }
}

// The least segment that is wrong goes to *first_wrong, which holds num_segments + 1 before: offsets that decrease,
// do not begin with 0 (segment 0) or do not end with num_elements (segment num_segments). Grid: any.
extern "C" __global__ void __launch_bounds__(kThreads)
    check_offsets(const Index* offsets, long long num_segments, long long num_elements, long long* first_wrong)
{
    const long long stride = (long long)gridDim.x * kThreads;
    for (long long segment = (long long)blockIdx.x * kThreads + threadIdx.x; segment <= num_segments;
         segment += stride) {
        const bool is_wrong = (segment == 0 && offsets[0] != 0) ||
                              (segment < num_segments && offsets[segment + 1] < offsets[segment]) ||
                              (segment == num_segments && offsets[segment] != num_elements);
        if (is_wrong)
            atomicMin(first_wrong, segment);
    }
}

// The same of ranges that end before they begin or lie outside, and of lengths below 0 where ends are null.
extern "C" __global__ void __launch_bounds__(kThreads)
    check_ranges(const Index* begins, const Index* ends, long long num_segments, long long num_elements,
                 long long* first_wrong)
{
    const long long stride = (long long)gridDim.x * kThreads;
    for (long long segment = (long long)blockIdx.x * kThreads + threadIdx.x; segment < num_segments;
         segment += stride) {
        const bool is_wrong = ends == nullptr ? begins[segment] < 0
                                              : begins[segment] < 0 || ends[segment] < begins[segment] ||
                                                    ends[segment] > num_elements;
        if (is_wrong)
            atomicMin(first_wrong, segment);
    }
}
