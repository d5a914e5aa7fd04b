//% if keys
//% use parts/segments/find_heads.cuh
//% else
//% use parts/segments/flag_heads.cuh
//% end
//% let unit_items = 2048
//% let find_warps = 8
//% let list_units = 32
//% let large_units = 128
//% let num_units = ceil_div(num_items, unit_items)
//% scratch head_bits : u64[num_units * 32]
//% scratch unit_counts : unsigned[num_units]
//% scratch large_counts : u64[ceil_div(num_units, large_units)] zero
//% scratch offsets : Index[num_items + 1]
//% if keys
//% scratch unit_keys : Key[num_units * unit_items]
//% end
//% launch mark_heads grid = ceil_div(num_units, find_warps) block = find_warps * 32
//% launch list_offsets grid = ceil_div(num_units, list_units) block = find_warps * 32

// Makes offsets from flags or keys in two launches. In the first, each warp reads a unit of kUnitItems items.
// It stores a bit for each item and the number of the unit's heads, and adds this number to the sum of
// kLargeUnits units. In the second, a block adds up the numbers before its kListUnits units and lists their
// heads. No block waits for another.
//% if keys
// The first launch also stores the keys of a unit's heads side by side, while they are in the cache.
//% end
constexpr int kUnitSlices = kUnitItems / kSliceItems;
constexpr int kLaneItems = kUnitItems / kWarpThreads;  // items of a lane in a unit, one bit each
static_assert(kLaneItems == 64, "one word has a lane's bits");

// Returns the sum of all lanes' counts to every lane.
__device__ __forceinline__ u64 sum_of_lanes(u64 count)
{
    #pragma unroll
    for (int distance = kWarpThreads / 2; distance > 0; distance /= 2)
        count += __shfl_xor_sync(kFullMask, count, distance);
    return count;
}

//% if keys
// Finds the heads of a unit. Each lane stores the bits of its items in `marks`, and returns their number of
// heads. Stores the heads' keys in segments.found_keys, from the unit's begin on.
__device__ __forceinline__ int mark_keys(unsigned short* exchange,
                                         unsigned short* marks,
                                         const Segments& segments,
                                         Index begin)
{
    const int lane = threadIdx.x % kWarpThreads;
    int count = 0;
    Index stored = begin;
    #pragma unroll 1
    for (int slice = 0; slice < kUnitSlices; ++slice) {
        const unsigned heads = find_heads(exchange, segments, begin + slice * kSliceItems);
        marks[slice * kWarpThreads + lane] = (unsigned short)heads;
        count += __popc(heads);
        const int upto = warp_scan_counts(__popc(heads));
        const int num_heads = __shfl_sync(kFullMask, upto, kWarpThreads - 1);
        __syncwarp();  // all lanes have read `exchange`
        store_slice_keys(exchange, segments, heads, upto - __popc(heads), num_heads,
                         begin + slice * kSliceItems, stored);
        stored += num_heads;
        __syncwarp();  // all lanes have read the places
    }
    return count;
}
//% end

extern "C" __global__ void __launch_bounds__(kFindWarps * kWarpThreads)
mark_heads(Given segments,
           u64* head_bits,
           unsigned* unit_counts,
           //% if keys
           Key* unit_keys,
           //% end
           u64* large_counts)
{
    //% if keys
    __shared__ unsigned short exchange[kFindWarps][kExchanged];
    //% end
    const int warp = threadIdx.x / kWarpThreads;
    const Index unit = Index(blockIdx.x) * kFindWarps + warp;
    const Index begin = unit * kUnitItems;
    if (begin >= segments.num_items)
        return;
    unsigned short* const marks = reinterpret_cast<unsigned short*>(head_bits + unit * kWarpThreads);
    //% if keys
    segments.found_keys = unit_keys;
    const int mine = mark_keys(exchange[warp], marks, Segments{segments, nullptr, 0}, begin);
    //% else
    const int mine = find_heads(marks, Segments{segments, nullptr, 0}, begin, kUnitSlices);
    //% end
    const u64 count = sum_of_lanes(u64(mine));
    if (threadIdx.x % kWarpThreads == 0) {
        unit_counts[unit] = unsigned(count);
        atomicAdd(large_counts + unit / kLargeUnits, count);
    }
}

extern "C" __global__ void __launch_bounds__(kFindWarps * kWarpThreads)
list_offsets(Given segments,
             const u64* head_bits,
             const unsigned* unit_counts,
             const u64* large_counts,
             //% if keys
             const Key* unit_keys,
             //% end
             Index* offsets)
{
    __shared__ unsigned short listed[kFindWarps][kUnitItems];  // places of heads in each warp's unit
    __shared__ u64 sums[kFindWarps];
    const int lane = threadIdx.x % kWarpThreads;
    const int warp = threadIdx.x / kWarpThreads;
    const Index num_units = (segments.num_items - 1) / kUnitItems + 1;
    const Index first_unit = Index(blockIdx.x) * kListUnits;

    // Counts the heads before the block's units.
    const Index large = first_unit / kLargeUnits;
    u64 before = 0;
    #pragma unroll 2
    for (Index k = threadIdx.x; k < large; k += kFindWarps * kWarpThreads)
        before += large_counts[k];
    static_assert(kLargeUnits <= kFindWarps * kWarpThreads, "a thread reads one of the block's last units");
    const Index last = large * kLargeUnits + threadIdx.x;
    if (last < first_unit)
        before += unit_counts[last];
    before = sum_of_lanes(before);
    if (lane == 0)
        sums[warp] = before;
    __syncthreads();  // all warps have written their sums
    Index first = 0;
    #pragma unroll
    for (int k = 0; k < kFindWarps; ++k)
        first += Index(sums[k]);
    const int count = first_unit + lane < num_units ? int(unit_counts[first_unit + lane]) : 0;
    const int upto = warp_scan_counts(count);

    constexpr int kWarpUnits = kListUnits / kFindWarps;
    #pragma unroll 1
    for (int k = warp * kWarpUnits; k < (warp + 1) * kWarpUnits && first_unit + k < num_units; ++k) {
        const Index unit = first_unit + k;
        const Index begin = unit * kUnitItems;
        const int num_heads = __shfl_sync(kFullMask, count, k);
        const Index first_here = first + __shfl_sync(kFullMask, upto, k) - num_heads;
        u64 bits = head_bits[unit * kWarpThreads + lane];
        const int mine = __popcll(bits);
        unsigned short* place = listed[warp] + (warp_scan_counts(mine) - mine);
        #pragma unroll 1
        for (; bits != 0; bits &= bits - 1)
            *place++ = (unsigned short)(lane * kLaneItems + __ffsll((long long)bits) - 1);
        __syncwarp();  // all heads are listed
        #pragma unroll 4
        for (int head = lane; head < num_heads; head += kWarpThreads) {
            offsets[first_here + head] = begin + listed[warp][head];
            //% if keys
            segments.found_keys[first_here + head] = unit_keys[begin + head];
            //% end
        }
        if (unit == num_units - 1 && lane == 0) {
            offsets[first_here + num_heads] = segments.num_items;
            *segments.num_found = first_here + num_heads;
        }
        __syncwarp();  // all lanes have read the list
    }
}

// Sets the counts to 0 for the next launch. The kernel after list_offsets() calls it.
__device__ __forceinline__ void clear_counts(const Given& segments, u64* large_counts)
{
    if (blockIdx.x > 0)
        return;
    const Index num_large = (segments.num_items - 1) / (Index(kUnitItems) * kLargeUnits) + 1;
    for (Index k = threadIdx.x; k < num_large; k += blockDim.x)
        large_counts[k] = 0;
}
