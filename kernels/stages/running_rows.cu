//% stage   running_rows
//% title   Running results of rows: lanes side by side hold features, a tile joins what a span of tiles tells
//% after   running_tiles
//% source  Merrill & Garland 2016; Yang, Buluc & Owens 2018, Design Principles for Sparse Matrix Multiplication on the GPU
//% layout  whole, uniform, offsets, ranges
//% needs   scans, associative, rows, state_bytes <= 128
//% tune    block_threads = 128, 64, 256
//% tune    features_per_lane = 4, 1, 2, 8
//% tune    feature_lanes = 16, 1, 2, 4, 8, 32
//% tune    span_tiles = 32, 2, 8, 64
//% tune    rows_per_lane = 8, 1, 2, 4, 16
//% where   block_threads / 32 * feature_lanes * features_per_lane * state_bytes <= 32768
//% fits    num_features % features_per_lane == 0
//% fits    num_features == 0 || feature_lanes == 1 || feature_lanes / 2 * features_per_lane < num_features
//% fits    features_per_lane == 1 || features_per_lane * state_bytes <= 64
//% fits    rows_per_lane == 1 || rows_per_lane * features_per_lane * max(element_bytes, row_bytes) <= 256
//% fits    rows_per_lane == 1 || !costly_combine || rows_per_lane * features_per_lane <= 16
//% let     tile_features = feature_lanes * features_per_lane
//% let     num_tiles = ceil_div(num_items, block_threads / feature_lanes * rows_per_lane)
//% let     num_blocks = num_tiles * ceil_div(num_features, tile_features)
//% scratch ticket : u64[1] zero
//% scratch tile_states : u64[num_blocks * tile_features * ceil_div(state_bytes, 4)] zero
//% launch  scan_tiles  grid = num_blocks  block = block_threads
//% if (keeps_results || map) && allows_empty && !uniform
//% use     parts/segments/store_empty.cuh
//% end
//% use     parts/segments/place.cuh
//% if offsets || ranges
//% use     parts/segments/search_ends.cuh
//% end
//% use     parts/reduce/on_way.cuh
//% use     parts/reduce/run.cuh
//% use     parts/reduce/state_pieces.cuh

constexpr int kGroups = kBlockThreads / kFeatureLanes;  // of lanes with the same rows
constexpr int kTileRows = kGroups * kRowsPerLane;
constexpr int kTileFeatures = kFeatureLanes * kFeaturesPerLane;
constexpr int kWarps = kBlockThreads / kWarpThreads;
constexpr int kWarpGroups = kWarpThreads / kFeatureLanes;

// The states that warps leave for each other.
using WarpStates = State[kWarps][kTileFeatures];

// The runs of a lane's features over the same rows.
struct Runs {
    State totals[kFeaturesPerLane];
    bool ends;
};

__device__ __forceinline__ int feature_lane() { return int(threadIdx.x) % kFeatureLanes; }

// Joins the runs of each feature.
__device__ __forceinline__ Runs join_runs(const Runs& earlier, const Runs& later)
{
    Runs joined;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        joined.totals[v] =
            join(Run{earlier.totals[v], earlier.ends}, Run{later.totals[v], later.ends}).total;
    joined.ends = earlier.ends || later.ends;
    return joined;
}

// Returns the join of the runs of all groups before the lane's own.
__device__ __forceinline__ Runs scan_groups(Runs runs, WarpStates& warp_totals, bool (&warp_ends)[kWarps])
{
    const int lane = int(threadIdx.x) % kWarpThreads;
    const int warp = int(threadIdx.x) / kWarpThreads;
    // Groups of a warp: lanes of one feature are kFeatureLanes apart.
    #pragma unroll 1
    for (int delta = kFeatureLanes; delta < kWarpThreads; delta *= 2) {
        Runs earlier;
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            earlier.totals[v] = shuffle_up(runs.totals[v], delta);
        earlier.ends = __shfl_up_sync(kFullMask, int(runs.ends), delta);
        if (lane >= delta)
            runs = join_runs(earlier, runs);
    }
    if (lane >= kWarpThreads - kFeatureLanes) {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            warp_totals[warp][v * kFeatureLanes + feature_lane()] = runs.totals[v];
        if (lane == kWarpThreads - 1)
            warp_ends[warp] = runs.ends;
    }
    Runs before;
    Runs earlier;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
        before.totals[v] = identity();
        earlier.totals[v] = identity();
    }
    before.ends = false;
    earlier.ends = false;
    //% if feature_lanes < 32
    Runs neighbour;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        neighbour.totals[v] = shuffle_up(runs.totals[v], kFeatureLanes);
    neighbour.ends = __shfl_up_sync(kFullMask, int(runs.ends), kFeatureLanes);
    if (lane >= kFeatureLanes)
        before = neighbour;
    //% end
    __syncthreads();  // all warps have written their runs
    #pragma unroll 1
    for (int other = 0; other < warp; ++other) {
        Runs of_warp;
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            of_warp.totals[v] = warp_totals[other][v * kFeatureLanes + feature_lane()];
        of_warp.ends = warp_ends[other];
        earlier = join_runs(earlier, of_warp);
    }
    return join_runs(earlier, before);
}

// Where a piece of a state is in memory: neighbouring lanes have neighbouring words. A word holds the
// launch's tag and the piece.
__device__ __forceinline__ i64 word_place(i64 block, int v, int piece)
{
    return ((block * kStatePieces + piece) * kFeaturesPerLane + v) * kFeatureLanes + feature_lane();
}

// Tells the states of a lane's features. `block` counts tiles along the way, and blocks of features in each.
__device__ __forceinline__ void tell_states(volatile u64* words, i64 block, unsigned tag,
                                            const State (&states)[kFeaturesPerLane])
{
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
        const StatePieces pieces = pieces_of(states[v]);
        #pragma unroll
        for (int k = 0; k < kStatePieces; ++k)
            words[word_place(block, v, k)] = u64(tag) << 32 | pieces.at[k];
    }
}

// Waits for such states. The tile must have been taken before by a block that is running.
__device__ __forceinline__ void ask_states(const volatile u64* words, i64 block, unsigned tag,
                                           State (&states)[kFeaturesPerLane])
{
    for (bool is_told = false; !is_told;) {
        is_told = true;
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v) {
            StatePieces pieces;
            #pragma unroll
            for (int k = 0; k < kStatePieces; ++k) {
                const u64 word = words[word_place(block, v, k)];
                is_told = is_told && unsigned(word >> 32) == tag;
                pieces.at[k] = unsigned(word);
            }
            states[v] = pieces.state;
        }
    }
}

// Joins, for all threads, what `count` tiles have told, from the tile of `first` on; their blocks are
// `stride` apart. Groups take an equal share of consecutive tiles each.
__device__ __forceinline__ void look_back(State (&carries)[kFeaturesPerLane], const volatile u64* words,
                                          i64 first, int stride, int count, unsigned tag,
                                          WarpStates& warp_states)
{
    const int warp = int(threadIdx.x) / kWarpThreads;
    const int share = (count + kGroups - 1) / kGroups;
    const int begin = int(threadIdx.x) / kFeatureLanes * share;
    const int end = min(begin + share, count);
    State parts[kFeaturesPerLane];
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        parts[v] = identity();
    #pragma unroll 1
    for (int tile = begin; tile < end; ++tile) {
        State told[kFeaturesPerLane];
        ask_states(words, first + i64(tile) * stride, tag, told);
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            parts[v] = tile == begin ? told[v] : join_on_way(parts[v], told[v]);
    }
    #pragma unroll 1
    for (int delta = kFeatureLanes; delta < kWarpThreads; delta *= 2) {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            parts[v] = join_on_way(parts[v], shuffle_down(parts[v], delta));  // right in the first group
    }
    __syncthreads();  // all have read what warps have left before
    if (int(threadIdx.x) % kWarpThreads < kFeatureLanes) {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            warp_states[warp][v * kFeatureLanes + feature_lane()] = parts[v];
    }
    __syncthreads();  // the parts of all warps are there
    const int num_parts = (count + share * kWarpGroups - 1) / (share * kWarpGroups);
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        carries[v] = warp_states[0][v * kFeatureLanes + feature_lane()];
    #pragma unroll 1
    for (int other = 1; other < num_parts; ++other) {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            carries[v] = join_on_way(carries[v], warp_states[other][v * kFeatureLanes + feature_lane()]);
    }
}

// The lane's rows in the order of the way.
//% if reverse
__device__ __forceinline__ int way_row(int k) { return kRowsPerLane - 1 - k; }
//% else
__device__ __forceinline__ int way_row(int k) { return k; }
//% end

//% if ranges || rows_by_place
// Asks for a lane's rows, the places of which follow from their segments.
__device__ __forceinline__ void load_lane_rows(Row (&rows)[kRowsPerLane], const Inputs& inputs,
                                               const Segments& segments, Place place, Index first_segment,
                                               Index last_segment, Index begin, int count, int feature,
                                               int num_features, bool is_vector)
{
    #pragma unroll
    for (int k = 0; k < kRowsPerLane; ++k) {
        const int at = way_row(k);
        if (at >= count)
            continue;
        const Index item = begin + at;
        go_to_item(place, segments, item, first_segment, last_segment);
        const Index index = element_of(segments, place, item);
        const Index position = item - place.begin;
        load_numbers(rows[at], inputs, index);
        find_rows(rows[at], inputs, index, position, place.segment);
        load_rows(rows[at], inputs, index, position, place.segment, feature, num_features, is_vector);
    }
}
//% else
// Asks for a lane's rows. If they are fewer than kRowsPerLane, the last one is asked for again, so that no
// condition stands between the loads.
__device__ __forceinline__ void load_lane_rows(Row (&rows)[kRowsPerLane], const Inputs& inputs, Index begin,
                                               int count, int feature, int num_features, bool is_vector)
{
    #pragma unroll
    for (int at = 0; at < kRowsPerLane; ++at)
        load_numbers(rows[at], inputs, begin + min(at, count - 1));
    #pragma unroll
    for (int at = 0; at < kRowsPerLane; ++at)
        find_rows(rows[at], inputs, begin + min(at, count - 1), 0, 0);
    #pragma unroll
    for (int at = 0; at < kRowsPerLane; ++at)
        load_rows(rows[at], inputs, begin + min(at, count - 1), 0, 0, feature, num_features, is_vector);
}
//% end

// A block takes a tile of consecutive rows and a block of features. kFeatureLanes lanes side by side hold
// neighbouring vectors of a row; each group of them keeps kRowsPerLane consecutive rows in registers.
//% if reverse
// The way of the scan passes tiles, groups and rows from the last to the first.
//% else
// The way of the scan passes tiles, groups and rows from the first to the last.
//% end
// Blocks take tiles by tickets, along the way, so that all tiles before are done or under way. A group passes
// its rows twice: first to know what they leave open for those behind them, then for their outputs.
//
// Between, the block joins the states of the segment that its tile begins inside of. A tile tells the state
// of its own rows behind the last entry to a segment. kSpanTiles consecutive tiles are a span, the last of
// which tells the state of all rows of the open segment. So a tile needs no more than those since the
// segment's entry, those of its span, and the one before the span. Which states are joined, and in which
// order, follows from the segments alone: results are the same in every run, also where combine() rounds.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
scan_tiles(Inputs inputs, Segments segments, Results results, u64* ticket, volatile u64* tile_states)
{
    __shared__ u64 taken;
    __shared__ WarpStates warp_states;
    __shared__ bool warp_ends[kWarps];
    __shared__ State tile_totals[kTileFeatures];  // each is used by one thread alone
    if (threadIdx.x == 0) {
        taken = atomicAdd(ticket, 1ull);
        // Tickets of the next launch begin with 0 again, below the number of that launch.
        if (unsigned(taken) == gridDim.x - 1u)
            atomicAdd(ticket, (1ull << 32) - gridDim.x);
    }
    __syncthreads();  // the ticket is there
    const unsigned tag = unsigned(taken >> 32) + 1u;  // words that no launch has written are 0
    const unsigned block = unsigned(taken);
    const int num_features = int(results.num_features);
    const unsigned feature_blocks = unsigned(num_features + kTileFeatures - 1) / kTileFeatures;
    const Index turn = Index(block / feature_blocks);
    const int feature =
        int(block % feature_blocks) * kTileFeatures + feature_lane() * kFeaturesPerLane;
    const int group = int(threadIdx.x) / kFeatureLanes;
    //% if reverse
    const Index num_tiles = Index(gridDim.x / feature_blocks);
    const Index tile_begin = (num_tiles - 1 - turn) * kTileRows;
    const Index begin = tile_begin + (kGroups - 1 - group) * kRowsPerLane;
    //% else
    const Index tile_begin = turn * kTileRows;
    const Index begin = tile_begin + group * kRowsPerLane;
    //% end
    const Index tile_end = min(tile_begin + kTileRows, segments.num_items);
    // ptxas 13.0 gets a comparison of the clamped count with its greatest value wrong.
    const bool is_whole = tile_end - begin >= kRowsPerLane;
    const int count = is_whole ? kRowsPerLane : int(max(tile_end - begin, Index(0)));
    //% if features_per_lane == 1
    const bool is_vector = true;
    //% else
    const bool is_vector = rows_are_vectors(inputs, results, num_features);
    //% end

    Row rows[kRowsPerLane];
    //% if !ranges && !rows_by_place
    // Rows are asked for before it is known where segments begin. Constant arguments keep branches and
    // products from between the loads.
    if (is_vector && is_whole)
        load_lane_rows(rows, inputs, begin, kRowsPerLane, feature, num_features, true);
    else if (is_vector && count > 0)
        load_lane_rows(rows, inputs, begin, count, feature, num_features, true);
    //% if features_per_lane > 1
    else if (count > 0)
        load_lane_rows(rows, inputs, begin, count, feature, num_features, false);
    //% end
    //% end
    //% if offsets || ranges
    __shared__ Index bounds[2];  // the segments of the tile's first and last row
    if (threadIdx.x < kWarpThreads) {  // each half of the warp searches one
        const bool is_last = threadIdx.x >= kWarpThreads / 2;
        const Index segment = search_ends(segments, i64(is_last ? tile_end : tile_begin + 1), 0);
        if (threadIdx.x % (kWarpThreads / 2) == 0)
            bounds[is_last] = segment;
    }
    __syncthreads();  // both bounds are there
    const Index first_segment = bounds[0];
    const Index last_segment = bounds[1];
    //% else
    const Index first_segment = 0;
    const Index last_segment = segments.num_segments - 1;
    //% end
    // The segment of the tile's first row on the way, and the tile in which the way enters it.
    //% if reverse
    const Place open =
        place_of(segments, find_segment(segments, tile_end - 1, last_segment, last_segment));
    const bool is_inside = !is_entry(open, tile_end - 1);
    const Index entry_turn = num_tiles - 1 - (open.end - 1) / kTileRows;
    //% else
    const Place open = place_of(segments, find_segment(segments, tile_begin, first_segment, first_segment));
    const bool is_inside = !is_entry(open, tile_begin);
    const Index entry_turn = open.begin / kTileRows;
    //% end

    Place entered = {};  // the segment of the lane's first row on the way
    if (count > 0) {
        //% if reverse
        const Index item = begin + count - 1;
        //% else
        const Index item = begin;
        //% end
        entered = place_of(segments, find_segment(segments, item, first_segment, last_segment));
        //% if ranges || rows_by_place
        if (is_vector)
            load_lane_rows(rows, inputs, segments, entered, first_segment, last_segment, begin, count, feature,
                           num_features, true);
        //% if features_per_lane > 1
        else
            load_lane_rows(rows, inputs, segments, entered, first_segment, last_segment, begin, count, feature,
                           num_features, false);
        //% end
        //% end
    }

    Runs runs;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        runs.totals[v] = identity();
    runs.ends = false;
    Place place = entered;
    #pragma unroll
    for (int k = 0; k < kRowsPerLane; ++k) {
        const int at = way_row(k);
        if (at >= count)
            continue;
        const Index item = begin + at;
        go_to_item(place, segments, item, first_segment, last_segment);
        const Index index = element_of(segments, place, item);
        const bool enters = is_entry(place, item);
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v) {
            //% if uses_tables || scan_uses_tables
            if (feature + v >= num_features)
                continue;  // no table is read for a feature that does not exist
            //% end
            const State own = lift_row(inputs, rows[at], v, index, item - place.begin, place.segment);
            runs.totals[v] = enters ? own : join_on_way(runs.totals[v], own);
        }
        runs.ends = runs.ends || enters;
    }

    const Runs before = scan_groups(runs, warp_states, warp_ends);
    const bool tells = group == kGroups - 1;
    // What the last tile of a span tells is not known yet if it goes on with the segment it begins inside of.
    const bool is_late = is_inside && !before.ends && !runs.ends && turn % kSpanTiles == kSpanTiles - 1;
    if (tells) {
        const Runs of_tile = join_runs(before, runs);
        if (!is_late)
            tell_states(tile_states, block, tag, of_tile.totals);
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            tile_totals[v * kFeatureLanes + feature_lane()] = of_tile.totals[v];
    }
    State states[kFeaturesPerLane];
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        states[v] = before.totals[v];
    if (is_inside) {  // the same for all threads
        const Index first_turn = max(entry_turn, turn - turn % kSpanTiles - 1);
        State carries[kFeaturesPerLane];
        look_back(carries, tile_states, block - i64(turn - first_turn) * feature_blocks, int(feature_blocks),
                  int(turn - first_turn), tag, warp_states);
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (!before.ends)
                states[v] = group == 0 ? carries[v] : join_on_way(carries[v], before.totals[v]);
        if (tells && is_late) {
            State wholes[kFeaturesPerLane];
            #pragma unroll
            for (int v = 0; v < kFeaturesPerLane; ++v)
                wholes[v] = join_on_way(carries[v], tile_totals[v * kFeatureLanes + feature_lane()]);
            tell_states(tile_states, block, tag, wholes);
        }
    }

    place = entered;
    #pragma unroll
    for (int k = 0; k < kRowsPerLane; ++k) {
        const int at = way_row(k);
        if (at >= count)
            continue;
        const Index item = begin + at;
        go_to_item(place, segments, item, first_segment, last_segment);
        const Index index = element_of(segments, place, item);
        const Index position = item - place.begin;
        const bool enters = is_entry(place, item);
        ScannedRow outputs = {};
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v) {
            //% if uses_tables || scan_uses_tables
            if (feature + v >= num_features)
                continue;  // no table is read for a feature that does not exist
            //% end
            const State own = lift_row(inputs, rows[at], v, index, position, place.segment);
            const State passed = enters ? identity() : states[v];
            states[v] = enters ? own : join_on_way(states[v], own);
            keep_scanned(outputs, v, scan_row(inputs, rows[at], v, passed, states[v], index, position,
                                              place.segment));
        }
        store_scanned(results, index, feature, num_features, is_vector, outputs);
        //% if keeps_results || map
        if (is_exit(place, item))
            store_row(results, place.segment, place.end - place.begin, feature, num_features, is_vector,
                      states);
        //% end
    }
}
