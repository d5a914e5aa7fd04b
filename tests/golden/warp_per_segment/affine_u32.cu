// warp_per_segment: One warp reduces one segment
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// items_per_thread = 4
//
// Composition of the maps v -> scale * v + shift, earlier ones first; not commutative.
// operator affine(scale: u32, shift: u32) -> (scale: u32, shift: u32) {
//   state { scale: u32 = 1; shift: u32 = 0 }
//   lift {
//     scale = scale;
//     shift = shift;
//   }
//   combine(a, b) {
//     scale = a.scale * b.scale;
//     shift = a.shift * b.scale + b.shift;
//   }
// }
//
// Emitted by segfold from kernels/stages/warp_per_segment.cu; edit that file instead.

using Index = int;

constexpr int kMostBlockThreads = 128;
constexpr int kItemsPerThread = 4;
constexpr int block_threads = 128;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;

struct Inputs {
    const unsigned* scale;
    const unsigned* shift;
};

struct Results {
    unsigned* scale;
    unsigned* shift;
};

struct State {
    unsigned scale;
    unsigned shift;
};

__device__ __forceinline__ State identity()
{
    return {1, 0};
}

__device__ __forceinline__ State lift(unsigned scale, unsigned shift)
{
    return {scale, shift};
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    return {a.scale * b.scale, a.shift * b.scale + b.shift};
}

// Writes the total of a segment.
__device__ __forceinline__ void store(const Results& results, Index segment, Index, State state)
{
    results.scale[segment] = state.scale;
    results.shift[segment] = state.shift;
}

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    state.scale = __shfl_down_sync(kFullMask, state.scale, delta);
    state.shift = __shfl_down_sync(kFullMask, state.shift, delta);
    return state;
}

// Segment s is made of the items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

__device__ __forceinline__ Index segment_length(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1] - segments.offsets[segment];
}

// The segment's first element in the input.
__device__ __forceinline__ Index segment_first(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

// Reduces one state per lane to lane 0, in lane order.
// At every step the left operand covers the lower lanes, so combine() need not commute.
__device__ __forceinline__ State warp_reduce(State state)
{
    #pragma unroll
    for (int delta = 1; delta < kWarpThreads; delta *= 2)
        state = combine(state, shuffle_down(state, delta));
    return state;
}

constexpr int kStepItems = 4;

struct alignas(16) Chunk_scale {
    unsigned at[4];
};

struct alignas(16) Chunk_shift {
    unsigned at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_scale scale[1];
    Chunk_shift shift[1];
};

// The items from the element at `index` on, of which `count` are there; the others become zero.
__device__ __forceinline__ Items load_items(const Inputs& inputs, Index index, int count)
{
    Items items = {};
    if (count >= kStepItems && (unsigned long long)(inputs.scale + index) % alignof(Chunk_scale) == 0) {
        items.scale[0] = *(const Chunk_scale*)(inputs.scale + index);
    } else {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (k < count)
                items.scale[k / 4].at[k % 4] = inputs.scale[index + k];
    }
    if (count >= kStepItems && (unsigned long long)(inputs.shift + index) % alignof(Chunk_shift) == 0) {
        items.shift[0] = *(const Chunk_shift*)(inputs.shift + index);
    } else {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (k < count)
                items.shift[k / 4].at[k % 4] = inputs.shift[index + k];
    }
    return items;
}

// Item k of a step, which is the element at `index` of the input, lifted.
__device__ __forceinline__ State lift_item(const Inputs&, const Items& items, int k, Index)
{
    return lift(items.scale[0].at[k], items.shift[0].at[k]);
}

// Folds the elements from `index` on in their order: those of a lane that takes kItemsPerThread consecutive
// ones of which `count` are there. `position` is the first one's place in `segment`.
__device__ __forceinline__ State fold_consecutive(const Inputs& inputs,
                                                  Index index,
                                                  Index position,
                                                  Index segment,
                                                  Index count)
{
    State total = identity();
    // Vectors where the address allows: element by element, a warp would ask for each row of memory many
    // times.
    constexpr int kVectors = (kItemsPerThread + kStepItems - 1) / kStepItems;
    const int items_there = int(max(min(count, Index(kItemsPerThread)), Index(0)));
    Items items[kVectors];
    #pragma unroll
    for (int k = 0; k < kVectors; ++k)
        items[k] = load_items(inputs, index + k * kStepItems, items_there - k * kStepItems);
    #pragma unroll
    for (int k = 0; k < kItemsPerThread; ++k)
        if (k < items_there)
            total = combine(total, lift_item(inputs, items[k / kStepItems], k % kStepItems, index + k));
    return total;
}

// combine() need not commute, so a lane may not skip ahead: the warp walks the segment in chunks, in which
// each lane folds kItemsPerThread consecutive elements, and the chunk's total joins the running one in lane
// 0.
extern "C" __global__ void __launch_bounds__(kMostBlockThreads)
reduce(Inputs inputs,
       Segments segments,
       Results results)
{
    const int num_warps = block_threads / kWarpThreads;
    const Index segment = Index(blockIdx.x) * num_warps + threadIdx.x / kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    if (segment >= segments.num_segments)
        return;  // the whole warp leaves together

    const Index first = segment_first(segments, segment);
    const Index length = segment_length(segments, segment);
    State total = identity();
    for (Index chunk = 0; chunk < length; chunk += kItemsPerThread * kWarpThreads) {
        const Index mine = chunk + lane * kItemsPerThread;
        const State part = fold_consecutive(inputs, first + mine, mine, segment, length - mine);
        total = combine(total, warp_reduce(part));  // meaningful in lane 0 only
    }

    if (lane == 0)
        store(results, segment, length, total);
}
