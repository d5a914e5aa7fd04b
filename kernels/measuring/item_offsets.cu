// Segments on a GPU: lengths made into offsets, by an exclusive sum in one launch; offsets, lengths and ranges checked.
// `Index` is int or long long; the text is compiled as it is behind `using Index = ...;`.

using u64 = unsigned long long;

constexpr int kThreads = 256;
constexpr int kItems = 16;
constexpr int kTile = kThreads * kItems;
constexpr unsigned kFullMask = 0xffffffffu;

// A tile tells others its sum by words of 64 bits, one for each 32 bits of an Index. From the top a word holds: 30 bits
// of the launch's number, so that words of the launch before count as nothing; 2 bits of one of these; 32 bits of a sum.
constexpr int kWords = sizeof(Index) / 4;
constexpr unsigned kNothing = 0;
constexpr unsigned kTileSum = 1;  // of the tile alone
constexpr unsigned kPrefix = 2;   // of all tiles up to it

// One place is left free after each 16, so that lanes that read 16 consecutive items each meet different banks.
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

// What a tile has published in this launch. Words that do not belong together are those of a tile that is just
// publishing.
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

// The sum of all tiles before `tile`, for all lanes of a warp, by decoupled look-back (Merrill & Garland 2016). Tiles
// were taken in their order by blocks that are running: then the wait for them ends.
__device__ __forceinline__ Index look_back(const volatile u64* words, unsigned tile, unsigned launch)
{
    const int lane = threadIdx.x % 32;
    Index sum = 0;
    for (long long other = (long long)tile - 1 - lane;; other -= 32) {
        Index value;
        unsigned prefixes, counting;  // the lanes up to the nearest prefix, all where there is none
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

// The sum of `value` over the threads before this one; `total` is that of all.
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

// The offsets of segments with these lengths, and at their end the sum of all. Blocks take tiles by tickets, so that
// all earlier tiles are done or under way. `state` is the next ticket and the number of launches so far: both are 0
// before the first launch, and so are `words`. Grid: ceil(num_segments / kTile).
extern "C" __global__ void __launch_bounds__(kThreads)
    make_offsets(const Index* lengths, Index* offsets, volatile u64* words, volatile unsigned* state,
                 long long num_segments)
{
    __shared__ Index staged[kTile + kTile / 16];
    __shared__ Index warps[kThreads / 32];
    __shared__ Index before_tile;
    __shared__ unsigned ticket, number;
    if (threadIdx.x == 0) {
        ticket = atomicInc((unsigned*)state, gridDim.x - 1u);  // the last one makes it 0 again
        number = state[1] + 1u;  // it changes when all tiles have published, and this one has not
    }
    __syncthreads();  // the ticket is there
    const unsigned tile = ticket, launch = number;
    const long long first = (long long)tile * kTile;
    for (int i = 0; i < kItems; ++i) {
        const int item = i * kThreads + threadIdx.x;
        staged[staged_place(item)] = first + item < num_segments ? lengths[first + item] : 0;
    }
    __syncthreads();  // the lengths are there
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
    __syncthreads();  // the sum of earlier tiles is there, and what threads have added
    for (int i = 0; i < kItems; ++i) {
        const int item = i * kThreads + threadIdx.x;
        if (first + item < num_segments)
            offsets[first + item] = before_tile + staged[staged_place(item)];
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
