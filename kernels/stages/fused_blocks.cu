//% stage   fused_blocks
//% title   A block, or lanes of a warp, folds one segment, keeps it in registers, and maps it
//% after   fused_tiles
//% source  Milakov & Gimelshein 2018, Online Normalizer Calculation for Softmax; rows in registers: Tillet, Kung & Cox 2019, Triton
//% layout  whole, uniform, offsets, ranges
//% needs   associative, map, !rows, element_bytes > 0, !uses_position, !uses_segment, state_bytes <= 1024
//% let     are_alike = whole || uniform || longest_length <= 2 * mean_length
//% let     is_known = whole || uniform || longest_length > 0 && (are_alike || longest_length <= 65536)
//% let     most = num_segments >= 512 ? 262144 : 32768
//% suits   is_known && mean_length >= (are_alike ? 64 : 256) && mean_length <= most ? 97 : 4
//% tune    block_threads = 128, 32, 64, 256, 512, 1024
//% tune    segment_threads = 128, 4, 8, 16, 32, 64, 256, 512, 1024
//% tune    items_per_thread = 32, 4, 8, 12, 16, 24, 64
//% where   segment_threads == block_threads || segment_threads <= 32
//% let     resident_blocks = items_per_thread * max(4, element_bytes) <= 128 ? 1024 / block_threads : 1
//% let     is_wide = element_bytes > 4
//% let     full = are_alike && (!is_wide || mean_length > 8192) ? 32 : 16
//% let     few = full / 4 * 3
//% prefer  segment_threads = min(is_wide ? 512 : 1024, 2 * ceil_div(15 * mean_length, 16 * full) - 1)
//% prefer  items_per_thread = segment_threads * few >= mean_length ? few : full
//% prefer  block_threads = segment_threads > 32 ? segment_threads : 128
//% let     block_segments = block_threads / segment_threads
//% launch  reduce  grid = ceil_div(num_segments, block_segments)  block = block_threads
//% use     parts/segments/segment_extent.cuh

constexpr int kVectors = kItemsPerThread / kStepItems;  // that a thread keeps
//% if commutative
constexpr int kStride = kSegmentThreads * kStepItems;   // from one vector of a thread to its next
//% else
constexpr int kStride = kStepItems;                     // a thread has consecutive vectors
//% end
constexpr int kAhead = 2;                               // vectors under way of those that it does not keep
//% if commutative && segment_threads > 4
constexpr int kEdgeItems = 1;                           // that a thread takes there at most
//% else
constexpr int kEdgeItems = kStepItems - 1;
//% end
constexpr int kGroupLanes = kSegmentThreads < kWarpThreads ? kSegmentThreads : kWarpThreads;

// What a thread takes of a segment: vectors, and perhaps elements of its edges, which lie before the segment's
// first vector and behind its last one.
struct Part {
    Index begin;  // of the segment
    Index length;
    Index first;        // its first vector
    Index num_vectors;  // of this thread
    Index edge;         // its first element there
    int num_at_edge;
};

//% if commutative && segment_threads > 4
// Vectors begin at multiples of kStepItems. Of the edges, the first threads take an element each.
//% else
// Vectors begin at multiples of kStepItems. The first thread takes what lies before the first one, the last
// thread what lies behind the last one.
//% end
__device__ __forceinline__ Part part_of(const Segments& segments, Index segment, int thread)
{
    Part part;
    part.begin = segment_first(segments, segment);
    part.length = segment_length(segments, segment);
    const int before = int(min(part.length, -part.begin & Index(kStepItems - 1)));
    const int behind = int((part.length - before) & Index(kStepItems - 1));
    const Index num_vectors = (part.length - before) / kStepItems;
    //% if commutative
    const Index mine = thread;
    part.num_vectors = (num_vectors - thread + kSegmentThreads - 1) / kSegmentThreads;
    //% else
    const Index share = (num_vectors + kSegmentThreads - 1) / kSegmentThreads;
    const Index mine = thread * share;
    part.num_vectors = min(share, num_vectors - mine);  // none where it is negative
    //% end
    part.first = part.begin + before + mine * kStepItems;
    //% if commutative && segment_threads > 4
    part.edge = part.begin + thread + (thread < before ? Index(0) : num_vectors * kStepItems);
    part.num_at_edge = thread < before + behind ? 1 : 0;
    //% else
    const bool is_last = thread == kSegmentThreads - 1;
    part.edge = is_last ? part.begin + part.length - behind : part.begin;
    part.num_at_edge = is_last ? behind : thread == 0 ? before : 0;
    //% end
    return part;
}

// Appends the first `count` elements of a vector to `run`.
__device__ __forceinline__ State fold_vector(State run, const Inputs& inputs, const Items& items, Index index,
                                             int count)
{
    #pragma unroll
    for (int k = 0; k < kStepItems; ++k)
        if (k < count)
            //% if has_append
            run = append_item(run, inputs, items, k, index + k);
            //% else
            run = combine(run, lift_item(inputs, items, k, index + k));
            //% end
    return run;
}

// Joins what lanes side by side have, 2, 4, ... of them, in order. Each gets the total of all, and all the
// same bits, because each joins the same states.
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

// Joins what the threads of a segment have, in their order. Each gets the total.
__device__ __forceinline__ State join_threads(State state)
{
    state = join_lanes(state, kGroupLanes);
    //% if segment_threads > 32
    constexpr int kWarps = kSegmentThreads / kWarpThreads;
    __shared__ State of_warps[kWarps];
    if (threadIdx.x % kWarpThreads == 0)
        of_warps[threadIdx.x / kWarpThreads] = state;
    __syncthreads();  // all warps have written what they have
    state = join_lanes(of_warps[threadIdx.x % kWarps], kWarps);
    //% end
    return state;
}

// Where the elements of a segment are mapped to, and with what.
struct Target {
    SegmentValues values;
    Index segment;
    bool is_aligned;
};

// Maps the first `count` elements of a vector.
__device__ __forceinline__ void map_vector(const Inputs& inputs, const Results& results, const Target& target,
                                           const Part& part, const MapItems& items, Index index, int count)
{
    MapOutputs outputs = {};
    #pragma unroll
    for (int k = 0; k < kMapItems; ++k)
        if (k < count)
            //% if map_uses_tables
            keep_output(outputs, k,
                        map_tile_item(inputs, items, k, target.values, index + k, index + k - part.begin,
                                      target.segment, part.length));
            //% else
            keep_output(outputs, k,
                        map_tile_item(items, k, target.values, index + k, index + k - part.begin,
                                      target.segment, part.length));
            //% end
    if (count == kMapItems && target.is_aligned) {
        store_vectors(results, index, outputs);
    } else {
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k)
            if (k < count)
                store_output(results, index + k, outputs, k);
    }
}

// Folds what a thread has behind the vectors that it keeps.
__device__ __forceinline__ State fold_rest(State run, const Inputs& inputs, const Part& part)
{
    #pragma unroll 1
    for (Index from = kVectors; from < part.num_vectors; from += kAhead) {
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

// Maps what fold_rest() has folded, the last first: what has been read most lately may still be in the caches.
__device__ __forceinline__ void map_rest(const Inputs& inputs, const Results& results, const Target& target,
                                         const Part& part)
{
    #pragma unroll 1
    for (Index end = part.num_vectors; end > kVectors; end -= kAhead) {
        MapItems items[kAhead];
        #pragma unroll
        for (int v = 1; v <= kAhead; ++v)
            if (end - v >= kVectors)
                items[v - 1] = load_map_items(inputs, part.first + (end - v) * kStride, kMapItems);
        #pragma unroll
        for (int v = 1; v <= kAhead; ++v)
            if (end - v >= kVectors)
                map_vector(inputs, results, target, part, items[v - 1], part.first + (end - v) * kStride,
                           kMapItems);
    }
}

// kSegmentThreads threads take a segment. Each loads kVectors vectors at once and keeps them in registers,
// joins what it has with the others, and maps what it has kept: an element comes from memory once, whole
// vectors of it.
//% if commutative
// Threads side by side have vectors side by side.
//% else
// combine() need not commute: each thread has neighbouring vectors. What it finds of other threads in the lines
// that it asks for waits for them in the cache.
//% end
// What a segment has beyond that is folded vector by vector, and read once more.
extern "C" __global__ void __launch_bounds__(kBlockThreads, kResidentBlocks)
reduce(Inputs inputs, Segments segments, Results results)
{
    const int thread = threadIdx.x % kSegmentThreads;
    const Index wanted = Index(blockIdx.x) * kBlockSegments + threadIdx.x / kSegmentThreads;
    //% if segment_threads < 32
    // All lanes of a warp meet in the shuffles. Those that have no segment fold the last one, and store nothing.
    const Index segment = min(wanted, segments.num_segments - 1);
    //% else
    const Index segment = wanted;
    //% if segment_threads == 32
    if (segment >= segments.num_segments)
        return;
    //% end
    //% end
    const Part part = part_of(segments, segment, thread);
    const int num_at_edge = min(part.num_at_edge, kEdgeItems);
    const Items at_edge = load_items(inputs, part.edge, num_at_edge);
    Items kept[kVectors];
    if (is_aligned(inputs)) {
        #pragma unroll
        for (int v = 0; v < kVectors; ++v)
            if (v < part.num_vectors)
                kept[v] = load_vectors(inputs, part.first + v * kStride);
    } else {
        #pragma unroll
        for (int v = 0; v < kVectors; ++v)
            if (v < part.num_vectors)
                kept[v] = load_items(inputs, part.first + v * kStride, kStepItems);
    }
    // Columns that lift does not read are asked for here, too.
    MapItems map_items[kVectors];
    #pragma unroll
    for (int v = 0; v < kVectors; ++v)
        if (v < part.num_vectors)
            map_items[v] = map_items_of(kept[v], inputs, part.first + v * kStride, kMapItems);
    State total = identity();
    #pragma unroll
    for (int v = 0; v < kVectors; ++v)
        if (v < part.num_vectors)
            total = fold_vector(total, inputs, kept[v], part.first + v * kStride, kStepItems);
    total = fold_rest(total, inputs, part);
    if (num_at_edge > 0) {
        const State edge = fold_vector(identity(), inputs, at_edge, part.edge, num_at_edge);
        total = combine(thread == 0 ? edge : total, thread == 0 ? total : edge);
    }
    total = join_threads(total);
    //% if segment_threads < 32
    if (segment != wanted)
        return;
    //% end

    //% if keeps_results
    if (thread == 0)
        store(results, segment, part.length, total);
    //% end
    //% if map_uses_tables
    const SegmentValues values = segment_values(inputs, segment, part.length, total);
    //% else
    const SegmentValues values = segment_values(segment, part.length, total);
    //% end
    const Target target = {values, segment, outputs_are_aligned(results)};
    map_rest(inputs, results, target, part);
    #pragma unroll
    for (int v = 0; v < kVectors; ++v)
        if (v < part.num_vectors)
            map_vector(inputs, results, target, part, map_items[v], part.first + v * kStride, kMapItems);
    if (num_at_edge > 0)
        map_vector(inputs, results, target, part, map_items_of(at_edge, inputs, part.edge, num_at_edge),
                   part.edge, num_at_edge);
}
