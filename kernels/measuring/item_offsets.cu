// Kernels for segments in a GPU's memory. One makes offsets of lengths, by an exclusive sum in one launch; the others
// check offsets, lengths and ranges. `Index` is int or long long: the host puts `using Index = ...;` before this
// text.

using u64 = unsigned long long;

constexpr int kThreads = 256;
constexpr int kItems = 16;
constexpr int kTile = kThreads * kItems;
constexpr unsigned kFullMask = 0xffffffffu;

// A tile publishes its sum in words of 64 bits, one for each 32 bits of an Index. A word holds, from the top: 30 bits
// of the launch's number, so that words of earlier launches are ignored; 2 bits with one of the values below; 32 bits
// of a sum.
constexpr int kWords = sizeof(Index) / 4;
constexpr unsigned kNothing = 0;
constexpr unsigned kTileSum = 1;  // sum of the tile alone
constexpr unsigned kPrefix = 2;   // sum of all tiles up to this one

// Returns where an item is kept in shared memory. One place stays free behind every 16 items, so that lanes that read
// 16 consecutive items each use different banks.
__device__ __forceinline__ int staged_place(int item)
{
    return item + item / 16;
}

__device__ __forceinline__ void publish(volatile u64* words, unsigned tile, unsigned launch, unsigned what, Index sum)
{
    #pragma unroll
    for (int k = 0; k < kWords; ++k)
        words[(u64)tile * kWords + k] = (u64)(launch << 2 | what) << 32 | (unsigned)((u64)sum >> 32 * k);
}

// Reads the sum that a tile has published in this launch. Returns its kind, or kNothing if there is none or the words
// do not belong together yet.
__device__ __forceinline__ unsigned published(const volatile u64* words, long long tile, unsigned launch, Index& sum)
{
    const u64 low = words[tile * kWords];
    const u64 high = kWords == 1 ? low : words[tile * kWords + 1];
    const unsigned tag = (unsigned)(low >> 32);
    if (tag != (unsigned)(high >> 32) || tag >> 2 != (launch & 0x3fffffffu))
        return kNothing;
    sum = kWords == 1 ? (Index)(unsigned)low : (Index)(high << 32 | (unsigned)low);
    return tag & 3u;
}

// Returns the sum of all tiles before `tile` to all lanes of a warp, by decoupled look-back (Merrill & Garland 2016).
// Tiles must be taken in their order by running blocks, so that the wait for them ends.
__device__ __forceinline__ Index look_back(const volatile u64* words, unsigned tile, unsigned launch)
{
    const int lane = threadIdx.x % 32;
    Index sum = 0;
    for (long long other = (long long)tile - 1 - lane;; other -= 32) {
        Index value;
        unsigned prefixes, counting;  // the lanes up to the nearest prefix; all if there is none
        for (;;) {
            value = 0;
            const unsigned what = other >= 0 ? published(words, other, launch, value) : kPrefix;
            prefixes = __ballot_sync(kFullMask, what == kPrefix);
            counting = prefixes ^ (prefixes - 1u);
            const unsigned known = __ballot_sync(kFullMask, what != kNothing);
            if ((counting & ~known) == 0)
                break;
        }
        if (counting >> lane & 1u)
            sum += value;
        if (prefixes != 0)
            break;
    }
    #pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(kFullMask, sum, distance);
    return sum;
}

// Returns the sum of the values of all earlier threads. `total` becomes the sum of all threads.
__device__ __forceinline__ Index sum_before(Index value, Index* warps, Index& total)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Index sum = value;
    for (int delta = 1; delta < 32; delta *= 2) {
        const Index earlier = __shfl_up_sync(kFullMask, sum, delta);
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

// Writes the offsets of segments with these lengths, and behind them the sum of all lengths. Blocks take tiles by
// tickets, so that all earlier tiles are done or under way. `state` has the next ticket and the number of launches so
// far. Both are 0 before the first launch, and so are `words`. Grid: ceil(num_segments / kTile).
extern "C" __global__ void __launch_bounds__(kThreads)
    make_offsets(const Index* lengths, Index* offsets, volatile u64* words, volatile unsigned* state,
                 long long num_segments)
{
    __shared__ Index staged[kTile + kTile / 16];
    __shared__ Index warps[kThreads / 32];
    __shared__ Index before_tile;
    __shared__ unsigned ticket, number;
    if (threadIdx.x == 0) {
        ticket = atomicInc((unsigned*)state, gridDim.x - 1u);  // the last ticket wraps to 0
        number = state[1] + 1u;  // state[1] changes only after all tiles have published
    }
    __syncthreads();  // thread 0 has written the ticket
    const unsigned tile = ticket, launch = number;
    const long long first = (long long)tile * kTile;
    for (int i = 0; i < kItems; ++i) {
        const int item = i * kThreads + threadIdx.x;
        staged[staged_place(item)] = first + item < num_segments ? lengths[first + item] : 0;
    }
    __syncthreads();  // the lengths are written
    Index* const mine = staged + threadIdx.x * (kItems + kItems / 16);
    Index sum = 0;
    for (int i = 0; i < kItems; ++i) {
        const Index length = mine[i];
        mine[i] = sum;
        sum += length;
    }
    Index total;
    const Index before = sum_before(sum, warps, total);
    for (int i = 0; i < kItems; ++i)
        mine[i] += before;
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0 && tile > 0)
            publish(words, tile, launch, kTileSum, total);
        const Index earlier = look_back(words, tile, launch);
        if (threadIdx.x == 0) {
            publish(words, tile, launch, kPrefix, earlier + total);
            before_tile = earlier;
            if (tile == gridDim.x - 1u) {
                state[1] = launch;
                offsets[num_segments] = earlier + total;
            }
        }
    }
    __syncthreads();  // the sum of earlier tiles and the offsets in the tile are written
    for (int i = 0; i < kItems; ++i) {
        const int item = i * kThreads + threadIdx.x;
        if (first + item < num_segments)
            offsets[first + item] = before_tile + staged[staged_place(item)];
    }
}

// Writes the least wrong segment to *first_wrong, which holds num_segments + 1 before. A segment is wrong if its
// offsets decrease, if the first offset is not 0 (segment 0), or if the last offset is not num_elements (segment
// num_segments). Grid: any.
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

// Writes the least wrong segment to *first_wrong, as check_offsets does. A range is wrong if it ends before it begins
// or lies outside of the input. If `ends` is null, `begins` has lengths, and a length is wrong if it is negative.
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
