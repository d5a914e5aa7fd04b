// fused_blocks: Lanes of a warp, a block or a cluster fold one segment, keep it on the chip, and map it
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// items_per_thread = 16
// segment_threads = 4
//
// Softmax of each segment: exponentials that add up to 1,
//     scaled by the greatest value so that nothing overflows.
// operator softmax(x: f32) -> each f32 {
//   state { greatest: f32 = -inf; sum: f32 = 0 }
//   lift {
//     greatest = isnan(x) ? -inf : x;
//     sum = isnan(x) ? nan : 1;
//   }
//   combine(a, b) {
//     let ahead = b.greatest - a.greatest;
//     let scale = exp(min(ahead > 0 ? -ahead : ahead, 0));
//     greatest = max(a.greatest, b.greatest);
//     sum = ahead > 0 ? a.sum * scale + b.sum : a.sum + b.sum * scale;
//   }
//   append(a) {
//     let ahead = x - a.greatest;
//     let scale = exp(-abs(ahead));
//     greatest = max(a.greatest, x);
//     sum = ahead > 0 ? a.sum * scale + 1 : a.sum + (x == a.greatest ? 1 : scale);
//   }
//   map {
//     let share = 1 / sum;
//     result = exp(x - greatest) * share;
//   }
//   laws commutative
// }
//
// Emitted by segfold from kernels/stages/fused_blocks.cu; edit that file instead.

using Index = int;

constexpr int kBlockThreads = 128;
constexpr int kItemsPerThread = 16;
constexpr int kSegmentThreads = 4;
constexpr int kResidentBlocks = 8;
constexpr int kTeamThreads = 4;
constexpr int kBlockSegments = 32;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;
constexpr float kInfinity = __builtin_bit_cast(float, 0x7f800000u);

// Returns x and hides its origin from NVRTC, which would fold the minimum or maximum of 0 and -0 to either.
__device__ __forceinline__ float opaque_f32(float x)
{
    auto bits = __builtin_bit_cast(int, x);
    asm("" : "+r"(bits));
    return __builtin_bit_cast(float, bits);
}

struct Inputs {
    const float* x;
};

struct Results {
    float* greatest;
    float* sum;
    float* result;  // of each element
};

struct State {
    float greatest;
    float sum;
};

__device__ __forceinline__ State identity()
{
    return {-kInfinity, 0.0f};
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    const float ahead = b.greatest - a.greatest;
    const float scale = expf(fminf(opaque_f32(ahead > 0.0f ? -ahead : ahead), 0.0f));
    return {fmaxf(a.greatest, b.greatest), ahead > 0.0f ? a.sum * scale + b.sum : a.sum + b.sum * scale};
}

// combine(a, lift(...)) in fewer steps.
__device__ __forceinline__ State append(State a, float x)
{
    const float ahead = x - a.greatest;
    const float scale = expf(-fabsf(ahead));
    return {
        fmaxf(a.greatest, x),
        ahead > 0.0f ? a.sum * scale + 1.0f : a.sum + (x == a.greatest ? 1.0f : scale),
    };
}

// The results of one segment.
struct RowResult {
    float greatest;
    float sum;
};

__device__ __forceinline__ RowResult finish_row(Index, Index, State state)
{
    return {state.greatest, state.sum};
}

__device__ __forceinline__ State shuffle(State state, int lane)
{
    state.greatest = __shfl_sync(kFullMask, state.greatest, lane);
    state.sum = __shfl_sync(kFullMask, state.sum, lane);
    return state;
}

constexpr int kMapItems = 4;

// The outputs of one element.
struct Mapped {
    float result;
};

struct alignas(16) MapChunk_x {
    float at[4];
};

// kMapItems consecutive elements of the columns that map reads.
struct MapItems {
    MapChunk_x x[1];
};

// Loads `count` elements from the element at `index` on; the others become zero.
__device__ __forceinline__ MapItems load_map_items(const Inputs& inputs, Index index, int count)
{
    MapItems items = {};
    if (count == kMapItems && (unsigned long long)(inputs.x + index) % alignof(MapChunk_x) == 0) {
        items.x[0] = *(const MapChunk_x*)(inputs.x + index);
    } else {
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k)
            if (k < count)
                items.x[k / 4].at[k % 4] = inputs.x[index + k];
    }
    return items;
}

// The values of a segment that map needs.
struct SegmentValues {
    float greatest;
    float share;
};

// Returns the values of a segment whose elements combine to `state`. No result of an operator can be called
// `state`, because this is a keyword of the language.
__device__ __forceinline__ SegmentValues segment_values(Index segment, Index length, State state)
{
    const RowResult results = finish_row(segment, length, state);
    const float greatest = results.greatest;
    const float sum = results.sum;
    const float share = 1.0f / sum;
    return {greatest, share};
}

// What an element gets, from the values of its segment.
__device__ __forceinline__ Mapped map_with_values(float x, float greatest, float share)
{
    return {expf(x - greatest) * share};
}

// Maps element k of `items` with the values of its segment.
__device__ __forceinline__ Mapped map_tile_item(const MapItems& items, int k, const SegmentValues& values,
                                                Index, Index, Index,
                                                Index)
{
    return map_with_values(items.x[k / 4].at[k % 4], values.greatest, values.share);
}

struct alignas(16) OutputChunk_result {
    float at[4];
};

// The outputs of kMapItems consecutive elements.
struct MapOutputs {
    OutputChunk_result result[1];
};

__device__ __forceinline__ void keep_output(MapOutputs& outputs, int k, const Mapped& mapped)
{
    outputs.result[k / 4].at[k % 4] = mapped.result;
}

// True if store_vectors() may be called.
__device__ __forceinline__ bool outputs_are_aligned(const Results& results)
{
    return (unsigned long long)results.result % alignof(OutputChunk_result) == 0;
}

// Writes the outputs of all kMapItems elements from the element at `index` on. `index` must be a multiple of
// kMapItems, and all elements must exist.
__device__ __forceinline__ void store_vectors(const Results& results, Index index, const MapOutputs& outputs)
{
    *(OutputChunk_result*)(results.result + index) = outputs.result[0];
}

// Writes the outputs of element k alone, which is the element at `index`.
__device__ __forceinline__ void store_output(const Results& results, Index index, const MapOutputs& outputs,
                                             int k)
{
    results.result[index] = outputs.result[k / 4].at[k % 4];
}

// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

__device__ __forceinline__ Index segment_length(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1] - segments.offsets[segment];
}

// Returns the segment's first element in the input.
__device__ __forceinline__ Index segment_first(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

constexpr int kStepItems = 4;

struct alignas(16) Chunk_x {
    float at[4];
};

// Elements of kStepItems consecutive items.
struct Items {
    Chunk_x x[1];
};

// Loads `count` items from the element at `index` on; the others become zero.
__device__ __forceinline__ Items load_items(const Inputs& inputs, Index index, int count)
{
    Items items = {};
    if (count >= kStepItems && (unsigned long long)(inputs.x + index) % alignof(Chunk_x) == 0) {
        items.x[0] = *(const Chunk_x*)(inputs.x + index);
    } else {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (k < count)
                items.x[k / 4].at[k % 4] = inputs.x[index + k];
    }
    return items;
}

// True if load_vectors() may be called.
__device__ __forceinline__ bool is_aligned(const Inputs& inputs)
{
    return (unsigned long long)inputs.x % alignof(Chunk_x) == 0;
}

// Loads the kStepItems items from the element at `index` on. `index` must be a multiple of kStepItems, and
// all items must exist.
__device__ __forceinline__ Items load_vectors(const Inputs& inputs, Index index)
{
    Items items;
    items.x[0] = *(const Chunk_x*)(inputs.x + index);
    return items;
}

// Appends item k of a step, which is the element at `index`, to `run`.
__device__ __forceinline__ State append_item(State run, const Inputs&, const Items& items, int k, Index)
{
    return append(run, items.x[0].at[k]);
}

// kMapItems consecutive elements of the columns that map reads and lift does not.
struct OtherItems {
};

// Loads `count` elements of these columns, from the element at `index` on; the others become zero.
__device__ __forceinline__ OtherItems load_other_items(const Inputs&, Index, int)
{
    OtherItems items = {};
    return items;
}

// Returns the elements of a step in the form that map takes. kStepItems must be kMapItems.
__device__ __forceinline__ MapItems map_items_of(const Items& step, const OtherItems&)
{
    MapItems items = {};
    #pragma unroll
    for (int k = 0; k < kMapItems; ++k)
        items.x[k / 4].at[k % 4] = step.x[k / 4].at[k % 4];
    return items;
}

constexpr int kVectors = kItemsPerThread / kStepItems;  // vectors that a thread keeps in registers
constexpr int kStride = kTeamThreads * kStepItems;  // elements from one vector of a thread to its next
constexpr bool kSpreadsEdges = kTeamThreads >= 2 * kStepItems;
constexpr int kAhead = 2;  // vectors that a thread loads at once if it does not keep them
constexpr int kEdgeItems = kSpreadsEdges ? 1 : kStepItems - 1;  // most edge elements of a thread
constexpr int kGroupLanes = kSegmentThreads < kWarpThreads ? kSegmentThreads : kWarpThreads;

// The part of a segment that one thread takes: vectors, and perhaps elements of the segment's edges. The
// edges lie before the segment's first whole vector and behind its last one.
struct Part {
    Index begin;  // the segment's first element
    Index length;
    Index first;        // first element of the thread's first vector
    Index num_vectors;  // vectors of the thread
    Index num_kept;     // vectors that the thread keeps on the chip
    Index edge;         // the thread's first edge element
    int num_at_edge;
};

// Returns the part of thread `thread`. Vectors begin at multiples of kStepItems. The first thread takes the
// elements before the first vector, and the last thread takes those behind the last vector. If the order is
// free and there are enough threads, each thread takes one edge element instead.
__device__ __forceinline__ Part part_of(const Segments& segments, Index segment, int thread, int most_kept)
{
    Part part;
    part.begin = segment_first(segments, segment);
    part.length = segment_length(segments, segment);
    const int before = int(min(part.length, -part.begin & Index(kStepItems - 1)));
    const int behind = int((part.length - before) & Index(kStepItems - 1));
    const Index num_vectors = (part.length - before) / kStepItems;
    const Index mine = thread;
    part.num_vectors = (num_vectors - thread + kTeamThreads - 1) / kTeamThreads;
    part.first = part.begin + before + mine * kStepItems;
    part.num_kept = min(part.num_vectors, Index(most_kept));
    if (kSpreadsEdges) {
        part.edge = part.begin + thread + (thread < before ? Index(0) : num_vectors * kStepItems);
        part.num_at_edge = thread < before + behind ? 1 : 0;
    } else {
        const bool is_last = thread == kTeamThreads - 1;
        part.edge = is_last ? part.begin + part.length - behind : part.begin;
        part.num_at_edge = is_last ? behind : thread == 0 ? before : 0;
    }
    return part;
}

// Appends the first `count` elements of a vector to `run`.
__device__ __forceinline__ State fold_vector(State run, const Inputs& inputs, const Items& items, Index index,
                                             int count)
{
    #pragma unroll
    for (int k = 0; k < kStepItems; ++k)
        if (k < count)
            run = append_item(run, inputs, items, k, index + k);
    return run;
}

// Joins the states of `num_lanes` neighbouring lanes, a power of two, in lane order. Each lane gets the
// total. All lanes join the same states, so all get the same bits.
__device__ __forceinline__ State join_lanes(State state, int num_lanes)
{
    const int lane = threadIdx.x % kWarpThreads;
    #pragma unroll
    for (int delta = 1; delta < num_lanes; delta *= 2) {
        const State other = shuffle(state, lane ^ delta);
        const bool is_later = (lane & delta) != 0;
        state = combine(is_later ? other : state, is_later ? state : other);
    }
    return state;
}

// Joins the states of all threads of a segment, in thread order. Each thread gets the total.
__device__ __forceinline__ State join_threads(State state)
{
    state = join_lanes(state, kGroupLanes);
    return state;
}

// What is needed to map the elements of a segment. `is_aligned` is true if outputs may be stored in vectors.
struct Target {
    SegmentValues values;
    Index segment;
    bool is_aligned;
};

// Maps the first `count` elements of a vector and stores their outputs.
__device__ __forceinline__ void map_vector(const Inputs& inputs, const Results& results, const Target& target,
                                           const Part& part, const MapItems& items, Index index, int count)
{
    MapOutputs outputs = {};
    #pragma unroll
    for (int k = 0; k < kMapItems; ++k)
        if (k < count)
            keep_output(outputs, k,
                        map_tile_item(items, k, target.values, index + k, index + k - part.begin,
                                      target.segment, part.length));
    if (count == kMapItems && target.is_aligned) {
        store_vectors(results, index, outputs);
    } else {
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k)
            if (k < count)
                store_output(results, index + k, outputs, k);
    }
}

// Folds the vectors that this thread does not keep.
__device__ __forceinline__ State fold_rest(State run, const Inputs& inputs, const Part& part)
{
    #pragma unroll 1
    for (Index from = part.num_kept; from < part.num_vectors; from += kAhead) {
        Items items[kAhead];
        #pragma unroll
        for (int v = 0; v < kAhead; ++v)
            if (from + v < part.num_vectors)
                items[v] = load_items(inputs, part.first + (from + v) * kStride, kStepItems);
        #pragma unroll
        for (int v = 0; v < kAhead; ++v)
            if (from + v < part.num_vectors)
                run = fold_vector(run, inputs, items[v], part.first + (from + v) * kStride, kStepItems);
    }
    return run;
}

// Maps the vectors that fold_rest() has folded. Begins with the last one, because the latest reads may still
// be in the caches.
__device__ __forceinline__ void map_rest(const Inputs& inputs, const Results& results, const Target& target,
                                         const Part& part)
{
    #pragma unroll 1
    for (Index end = part.num_vectors; end > part.num_kept; end -= kAhead) {
        MapItems items[kAhead];
        #pragma unroll
        for (int v = 1; v <= kAhead; ++v)
            if (end - v >= part.num_kept)
                items[v - 1] = load_map_items(inputs, part.first + (end - v) * kStride, kMapItems);
        #pragma unroll
        for (int v = 1; v <= kAhead; ++v)
            if (end - v >= part.num_kept)
                map_vector(inputs, results, target, part, items[v - 1], part.first + (end - v) * kStride,
                           kMapItems);
    }
}

// kSegmentThreads threads take one segment.
// Each thread loads kVectors vectors at once and keeps them in registers. It folds them, joins its total with
// those of the other threads, and maps the vectors that it kept. So an element is read from memory once, as
// part of a whole vector.
// Neighbouring threads take neighbouring vectors.
// If the segment is longer, its other elements are folded vector by vector, and read once more to be mapped.
extern "C" __global__ void __launch_bounds__(kBlockThreads, kResidentBlocks)
reduce(Inputs inputs, Segments segments, Results results)
{
    const int thread = threadIdx.x % kSegmentThreads;
    const Index wanted = Index(blockIdx.x) * kBlockSegments + threadIdx.x / kSegmentThreads;
    // All lanes of a warp take part in the shuffles. Lanes without a segment fold the last segment and store
    // nothing.
    const Index segment = min(wanted, segments.num_segments - 1);
    // If an array is not aligned to vectors, nothing is kept and elements are read twice. So these loads need
    // no test of alignment.
    const Part part = part_of(segments, segment, thread, is_aligned(inputs) ? kVectors : 0);
    const int num_at_edge = min(part.num_at_edge, kEdgeItems);
    const Items at_edge = load_items(inputs, part.edge, num_at_edge);
    const OtherItems others_at_edge = load_other_items(inputs, part.edge, num_at_edge);
    Items kept[kVectors];
    OtherItems others[kVectors];
    #pragma unroll
    for (int v = 0; v < kVectors; ++v)
        if (v < part.num_kept) {
            kept[v] = load_vectors(inputs, part.first + v * kStride);
            others[v] = load_other_items(inputs, part.first + v * kStride, kMapItems);
        }
    State total = identity();
    #pragma unroll
    for (int v = 0; v < kVectors; ++v)
        if (v < part.num_kept)
            total = fold_vector(total, inputs, kept[v], part.first + v * kStride, kStepItems);
    total = fold_rest(total, inputs, part);
    if (num_at_edge > 0) {
        const State edge = fold_vector(identity(), inputs, at_edge, part.edge, num_at_edge);
        total = combine(thread == 0 ? edge : total, thread == 0 ? total : edge);
    }
    total = join_threads(total);
    if (segment != wanted)
        return;

    const SegmentValues values = segment_values(segment, part.length, total);
    const Target target = {values, segment, outputs_are_aligned(results)};
    map_rest(inputs, results, target, part);
    #pragma unroll
    for (int v = 0; v < kVectors; ++v)
        if (v < part.num_kept)
            map_vector(inputs, results, target, part, map_items_of(kept[v], others[v]),
                       part.first + v * kStride, kMapItems);
    if (num_at_edge > 0)
        map_vector(inputs, results, target, part, map_items_of(at_edge, others_at_edge), part.edge,
                   num_at_edge);
}
