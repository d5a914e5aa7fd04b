//% stage   fused_blocks
//% title   Lanes of a warp, a block or a cluster fold one segment, keep it on the chip, and map it
//% after   fused_tiles
//% source  Milakov & Gimelshein 2018, Online Normalizer for Softmax; Guo, Zadouri & Dao 2025, QuACK
//% layout  whole, uniform, offsets, ranges
//% needs   associative, map, !rows, element_bytes > 0, !uses_position, !uses_segment, state_bytes <= 1024
//% tune    segment_threads = 1024, 4, 8, 16, 32, 64, 128, 256, 512
//% tune    block_threads = 1024, 32, 64, 128, 256, 512
//% tune    items_per_thread = 32, 4, 8, 16
//% tune    shared_items = 64, 0, 8, 16, 32
//% tune    cluster_blocks = 8, 1, 2, 4
//% where   segment_threads == block_threads || segment_threads <= 32
//% where   cluster_blocks == 1 || cc >= 90 && segment_threads > 32
//% let     step_items = narrow_columns ? 8 : 4
//% let     map_items = step_items
//% let     shared_vectors = shared_items / step_items
//% where   items_per_thread % step_items == 0
//% let     shared_bytes = block_threads * shared_items * element_bytes
//% let     most_bytes = block_shared_bytes - 34 * state_bytes - 1024
//% where   shared_bytes <= most_bytes
//% let     resident_threads = element_bytes > 4 ? 640 : 1024
//% let     fits = items_per_thread * element_bytes <= 128
//% let     resident_blocks = fits ? max(1, resident_threads / block_threads) : 1
//% let     fit = element_bytes <= 2 ? 64 : element_bytes <= 4 ? 32 : element_bytes <= 8 ? 16 : 8
//% let     few = min(32, narrow_columns ? (map_uses_tables ? 32 : 64) / element_bytes : fit)
//% let     are_even = whole || uniform || 4 * longest_length <= 5 * mean_length
//% let     is_short = mean_length <= 32 * few
//% let     some = narrow_columns ? few * 5 / 4 : few
//% let     share = are_even ? (is_short ? some : few + fit) : is_short ? few / 2 : fit
//% let     wanted = ceil_div(15 * mean_length, 16 * share)
//% let     least = mean_length * element_bytes > 288 ? 8 : 4
//% let     is_long = wanted > 1280 && cc >= 90
//% fits    segment_threads == 4 || segment_threads <= (is_long ? 512 : max(least, 2 * wanted - 1))
//% fits    items_per_thread == 4 || items_per_thread <= (are_even && segment_threads * 16 >= mean_length ? min(16, few) : few)
//% fits    block_threads == (segment_threads > 32 ? segment_threads : 128)
//% let     kept_there = !is_short ? fit : segment_threads * few < mean_length ? fit / 4 : 0
//% fits    shared_items == 0 || shared_items <= min(kept_there, most_bytes / (block_threads * element_bytes))
//% fits    cluster_blocks == 1 || cluster_blocks <= (is_long && segment_threads > 32 ? 2 * ceil_div(wanted, 512) - 1 : 1)
//% let     team_threads = segment_threads * cluster_blocks
//% let     block_segments = block_threads / segment_threads
//% if cluster_blocks > 1
//% let     num_blocks = num_segments * cluster_blocks
//% else
//% let     num_blocks = ceil_div(num_segments, block_segments)
//% end
//% if shared_items > 0
//% launch  reduce  grid = num_blocks  block = block_threads  shared = shared_bytes
//% use     parts/elements/copy_chunk.cuh
//% else
//% launch  reduce  grid = num_blocks  block = block_threads
//% end
//% use     parts/segments/segment_extent.cuh
//% if cluster_blocks > 1
//% use     parts/reduce/cluster.cuh
//% end

constexpr int kVectors = kItemsPerThread / kStepItems;  // vectors that a thread keeps in registers
//% if commutative
constexpr int kStride = kTeamThreads * kStepItems;  // elements from one vector of a thread to its next
constexpr bool kSpreadsEdges = kTeamThreads >= 2 * kStepItems;
//% else
constexpr int kStride = kStepItems;  // a thread's vectors are consecutive
constexpr bool kSpreadsEdges = false;
//% end
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
    //% if commutative
    const Index mine = thread;
    part.num_vectors = (num_vectors - thread + kTeamThreads - 1) / kTeamThreads;
    //% else
    const Index share = (num_vectors + kTeamThreads - 1) / kTeamThreads;
    const Index mine = thread * share;
    part.num_vectors = min(share, num_vectors - mine);  // negative if no vector is left
    //% end
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
            //% if has_append
            run = append_item(run, inputs, items, k, index + k);
            //% else
            run = combine(run, lift_item(inputs, items, k, index + k));
            //% end
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
    //% if segment_threads > 32
    constexpr int kWarps = kSegmentThreads / kWarpThreads;
    __shared__ State of_warps[kWarps];
    if (threadIdx.x % kWarpThreads == 0)
        of_warps[threadIdx.x / kWarpThreads] = state;
    __syncthreads();  // all warps have written their totals
    state = join_lanes(of_warps[threadIdx.x % kWarps], kWarps);
    //% end
    //% if cluster_blocks > 1
    __shared__ State of_block;
    if (threadIdx.x == 0)
        of_block = state;
    wait_for_cluster();  // all blocks have written their totals
    state = join_lanes(*in_block(&of_block, threadIdx.x % kClusterBlocks), kClusterBlocks);
    //% end
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

//% if shared_items > 0
// Folds the vectors that this thread has copied to shared memory. No other thread reads them, so no barrier
// is needed.
__device__ __forceinline__ State fold_shared(State run, const SharedVectors& shared, const Inputs& inputs,
                                             const Part& part)
{
    wait_for_copies();
    #pragma unroll 2
    for (int v = kVectors; v < part.num_kept; ++v)
        run = fold_vector(run, inputs, shared_vectors(shared, v - kVectors), part.first + v * kStride,
                          kStepItems);
    return run;
}

//% end
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

//% if cluster_blocks > 1
// The blocks of a cluster take one segment.
//% else
// kSegmentThreads threads take one segment.
//% end
// Each thread loads kVectors vectors at once and keeps them in registers. It folds them, joins its total with
// those of the other threads, and maps the vectors that it kept. So an element is read from memory once, as
// part of a whole vector.
//% if shared_items > 0
// Meanwhile the next vectors are copied to shared memory.
//% end
//% if commutative
// Neighbouring threads take neighbouring vectors.
//% else
// combine() need not commute: each thread takes consecutive vectors. A line of memory may hold vectors of
// several threads; it stays in the cache until all have read it.
//% end
// If the segment is longer, its other elements are folded vector by vector, and read once more to be mapped.
//% if cluster_blocks > 1
extern "C" __global__ void __cluster_dims__(kClusterBlocks, 1, 1)
__launch_bounds__(kBlockThreads, kResidentBlocks)
//% else
extern "C" __global__ void __launch_bounds__(kBlockThreads, kResidentBlocks)
//% end
reduce(Inputs inputs, Segments segments, Results results)
{
    //% if cluster_blocks > 1
    const int thread = int(blockIdx.x % kClusterBlocks * kBlockThreads + threadIdx.x);
    const Index segment = blockIdx.x / kClusterBlocks;
    //% else
    const int thread = threadIdx.x % kSegmentThreads;
    const Index wanted = Index(blockIdx.x) * kBlockSegments + threadIdx.x / kSegmentThreads;
    //% if segment_threads < 32
    // All lanes of a warp take part in the shuffles. Lanes without a segment fold the last segment and store
    // nothing.
    const Index segment = min(wanted, segments.num_segments - 1);
    //% else
    const Index segment = wanted;
    //% if segment_threads == 32
    if (segment >= segments.num_segments)
        return;
    //% end
    //% end
    //% end
    // If an array is not aligned to vectors, nothing is kept and elements are read twice. So these loads need
    // no test of alignment.
    //% if shared_items > 0
    extern __shared__ SharedVectors shared[];
    const Part part = part_of(segments, segment, thread, is_aligned(inputs) ? kVectors + kSharedVectors : 0);
    #pragma unroll
    for (int v = 0; v < kSharedVectors; ++v)
        if (kVectors + v < part.num_kept)
            copy_vectors(*shared, v, inputs, part.first + (kVectors + v) * kStride);
    //% else
    const Part part = part_of(segments, segment, thread, is_aligned(inputs) ? kVectors : 0);
    //% end
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
    //% if shared_items > 0
    total = fold_shared(total, *shared, inputs, part);
    //% end
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
        if (v < part.num_kept)
            map_vector(inputs, results, target, part, map_items_of(kept[v], others[v]),
                       part.first + v * kStride, kMapItems);
    //% if shared_items > 0
    #pragma unroll 2
    for (int v = kVectors; v < part.num_kept; ++v) {
        const Index index = part.first + v * kStride;
        map_vector(inputs, results, target, part,
                   map_items_of(shared_vectors(*shared, v - kVectors),
                                load_other_items(inputs, index, kMapItems)),
                   index, kMapItems);
    }
    //% end
    if (num_at_edge > 0)
        map_vector(inputs, results, target, part, map_items_of(at_edge, others_at_edge), part.edge,
                   num_at_edge);
    //% if cluster_blocks > 1
    wait_for_cluster();  // no block leaves before the others have read its total
    //% end
}
