// running_rows: Running results of rows: lanes side by side hold features, a tile joins what a span of tiles tells
// Segments given as offsets, 32-bit indices.
// block_threads = 128
// feature_lanes = 16
// features_per_lane = 4
// rows_per_lane = 8
// span_tiles = 32
//
// Exact and not commutative, of rows: each output tells the states before its element and with it,
//     and its places.
// operator told_row_scan(x: row u32, w: u32) -> (hash: u64, power: u64, each told: u64) {
//   state { hash: u64 = 0; power: u64 = 1 }
//   lift {
//     hash = u64(x) * 13787848793156543929 + u64(w);
//     power = 15074714826142052245 + u64(x) * 2;
//   }
//   combine(a, b) {
//     hash = a.hash * b.power + b.hash;
//     power = a.power * b.power;
//   }
//   scan(before, through) through.hash * 31 + before.hash * 7 + u64(x) + u64(index + position * 5 + segment)
// }
//
// Emitted by segfold from kernels/stages/running_rows.cu; edit that file instead.

using Index = int;
using i64 = long long;
using u64 = unsigned long long;

constexpr int kBlockThreads = 128;
constexpr int kFeatureLanes = 16;
constexpr int kFeaturesPerLane = 4;
constexpr int kRowsPerLane = 8;
constexpr int kSpanTiles = 32;
constexpr int kWarpThreads = 32;
constexpr unsigned kFullMask = 0xffffffffu;

struct Inputs {
    const unsigned* x;
    const unsigned* w;
};

struct Results {
    u64* hash;
    u64* power;
    u64* told;  // of each element
    Index num_features;  // of each row
};

struct State {
    u64 hash;
    u64 power;
};

__device__ __forceinline__ State identity()
{
    return {0, 1};
}

__device__ __forceinline__ State lift(unsigned x, unsigned w)
{
    return {u64(x) * 13787848793156543929ull + u64(w), 15074714826142052245ull + u64(x) * 2};
}

// The left operand covers earlier elements, always.
__device__ __forceinline__ State combine(State a, State b)
{
    return {a.hash * b.power + b.hash, a.power * b.power};
}

// The results of one feature.
struct RowResult {
    u64 hash;
    u64 power;
};

__device__ __forceinline__ RowResult finish_row(Index, Index, State state)
{
    return {state.hash, state.power};
}

__device__ __forceinline__ State shuffle_up(State state, int delta)
{
    state.hash = __shfl_up_sync(kFullMask, state.hash, delta);
    state.power = __shfl_up_sync(kFullMask, state.power, delta);
    return state;
}

__device__ __forceinline__ State shuffle_down(State state, int delta)
{
    state.hash = __shfl_down_sync(kFullMask, state.hash, delta);
    state.power = __shfl_down_sync(kFullMask, state.power, delta);
    return state;
}

// Returns the number of bytes between the begins of row 0 and row `row`. A row has `row_bytes` bytes.
__device__ __forceinline__ i64 rows_apart(Index row, int row_bytes)
{
    // If the compiler widens a factor early, i64(row) * row_bytes becomes a product of 64 bits: six
    // instructions instead of one.
    i64 bytes;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(bytes) : "r"(row), "r"(row_bytes));
    return bytes;
}

// kFeaturesPerLane neighbouring features of a row.
struct alignas(kFeaturesPerLane * 4 < 16 ? kFeaturesPerLane * 4 : 16) Features_u32 {
    unsigned at[kFeaturesPerLane];
};

// Returns the address of a feature in row `row`. Its address in row 0 is `first`.
__device__ __forceinline__ const unsigned* row_at(const unsigned* first, Index row, int num_features)
{
    return (const unsigned*)((const char*)first + rows_apart(row, num_features * int(sizeof(unsigned))));
}

__device__ __forceinline__ unsigned* row_at(unsigned* first, Index row, int num_features)
{
    return (unsigned*)((char*)first + rows_apart(row, num_features * int(sizeof(unsigned))));
}

// Loads a lane's features. `count` features of the row are left from the lane's first feature on; features
// beyond them become zero.
__device__ __forceinline__ Features_u32 load_features(const unsigned* from, int count, bool is_vector)
{
    Features_u32 features = {};
    if (is_vector) {
        if (count > 0)
            features = *(const Features_u32*)from;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                features.at[v] = from[v];
    }
    return features;
}

__device__ __forceinline__ void store_features(unsigned* to, int count, bool is_vector,
                                               const Features_u32& features)
{
    if (is_vector) {
        if (count > 0)
            *(Features_u32*)to = features;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                to[v] = features.at[v];
    }
}

// kFeaturesPerLane neighbouring features of a row.
struct alignas(kFeaturesPerLane * 8 < 16 ? kFeaturesPerLane * 8 : 16) Features_u64 {
    u64 at[kFeaturesPerLane];
};

// Returns the address of a feature in row `row`. Its address in row 0 is `first`.
__device__ __forceinline__ const u64* row_at(const u64* first, Index row, int num_features)
{
    return (const u64*)((const char*)first + rows_apart(row, num_features * int(sizeof(u64))));
}

__device__ __forceinline__ u64* row_at(u64* first, Index row, int num_features)
{
    return (u64*)((char*)first + rows_apart(row, num_features * int(sizeof(u64))));
}

// Loads a lane's features. `count` features of the row are left from the lane's first feature on; features
// beyond them become zero.
__device__ __forceinline__ Features_u64 load_features(const u64* from, int count, bool is_vector)
{
    Features_u64 features = {};
    if (is_vector) {
        if (count > 0)
            features = *(const Features_u64*)from;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                features.at[v] = from[v];
    }
    return features;
}

__device__ __forceinline__ void store_features(u64* to, int count, bool is_vector,
                                               const Features_u64& features)
{
    if (is_vector) {
        if (count > 0)
            *(Features_u64*)to = features;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                to[v] = features.at[v];
    }
}

// One element: the numbers of its columns, and a lane's features of its rows.
struct Row {
    unsigned w;
    Features_u32 x;
};

// First step of loading an element: its numbers, which determine the places in tables of rows.
__device__ __forceinline__ void load_numbers(Row& row, const Inputs& inputs, Index index)
{
    row.w = inputs.w[index];
}

// Second step of loading an element: the places of its rows in checked tables.
__device__ __forceinline__ void find_rows(Row&, const Inputs&, Index, Index,
                                          Index)
{
}

// Last step of loading an element: its rows. `feature` is the lane's first feature.
__device__ __forceinline__ void load_rows(Row& row, const Inputs& inputs, Index index, Index,
                                          Index, int feature, int num_features, bool is_vector)
{
    // In vectors, lanes behind the row's end load its last vector, and do not store it.
    const int first = is_vector ? min(feature, num_features - kFeaturesPerLane) : feature;
    const int count = is_vector ? kFeaturesPerLane : num_features - feature;
    row.x = load_features(row_at(inputs.x + first, index, num_features), count, is_vector);
}

// Lifts feature v of the lane's features.
__device__ __forceinline__ State lift_row(const Inputs&, const Row& row, int v, Index,
                                          Index, Index)
{
    return lift(row.x.at[v], row.w);
}

// True if features are loaded and stored in vectors: rows consist of whole vectors and begin at aligned
// addresses.
__device__ __forceinline__ bool rows_are_vectors(const Inputs& inputs, const Results& results,
                                                 int num_features)
{
    return num_features % kFeaturesPerLane == 0
        && (unsigned long long)inputs.x % alignof(Features_u32) == 0
        && (unsigned long long)results.hash % alignof(Features_u64) == 0
        && (unsigned long long)results.power % alignof(Features_u64) == 0
        && (unsigned long long)results.told % alignof(Features_u64) == 0
        ;
}

// Finishes the totals of a lane's features and writes their results.
__device__ __forceinline__ void store_row(const Results& results, Index segment, Index length, int feature,
                                          int num_features, bool is_vector,
                                          const State (&totals)[kFeaturesPerLane])
{
    Features_u64 to_hash;
    Features_u64 to_power;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
        const RowResult result = finish_row(segment, length, totals[v]);
        to_hash.at[v] = result.hash;
        to_power.at[v] = result.power;
    }
    const i64 place = i64(segment) * num_features + feature;
    const int count = num_features - feature;
    store_features(results.hash + place, count, is_vector, to_hash);
    store_features(results.power + place, count, is_vector, to_power);
}

// Finishes the total of one feature, and writes each of its results at `place`.
__device__ __forceinline__ void store_feature(const Results& results, Index segment, Index length, i64 place,
                                              State total)
{
    const RowResult result = finish_row(segment, length, total);
    results.hash[place] = result.hash;
    results.power[place] = result.power;
}

// The outputs of one element.
struct Scanned {
    u64 told;
};

// What an element gets, from the states of its segment before it and with it.
__device__ __forceinline__ Scanned scan_element(State before, State through, unsigned x, Index index,
    Index position, Index segment)
{
    return {through.hash * 31 + before.hash * 7 + u64(x)
        + u64(i64(u64(index) + u64(position) * 5 + u64(segment)))};
}

// Feature v of a Row: its outputs, from the states of its segment before it and with it.
__device__ __forceinline__ Scanned scan_row(const Inputs&, const Row& row, int v, State before,
                                            State through, Index index, Index position, Index segment)
{
    return scan_element(before, through, row.x.at[v], index, position, segment);
}

// The outputs of one element for a lane's features.
struct ScannedRow {
    Features_u64 told;
};

__device__ __forceinline__ void keep_scanned(ScannedRow& outputs, int v, const Scanned& scanned)
{
    outputs.told.at[v] = scanned.told;
}

// Writes the outputs of one element for a lane's features, the first of which is `feature`.
__device__ __forceinline__ void store_scanned(const Results& results, Index index, int feature,
                                              int num_features, bool is_vector, const ScannedRow& outputs)
{
    const int count = num_features - feature;
    store_features(row_at(results.told + feature, index, num_features), count, is_vector, outputs.told);
}

// Segment s holds items offsets[s] to offsets[s + 1] - 1.
struct Segments {
    const Index* offsets;  // [num_segments + 1]
    Index num_items;
    Index num_segments;
};

// Returns the segment's first item.
__device__ __forceinline__ Index segment_begin(const Segments& segments, Index segment)
{
    return segments.offsets[segment];
}

// Returns one past the segment's last item.
__device__ __forceinline__ Index segment_end(const Segments& segments, Index segment)
{
    return segments.offsets[segment + 1];
}

// Empty segments have no items, so tiles do not store them.
extern "C" __global__ void __launch_bounds__(256)
store_empty(Segments segments, Results results)
{
    const i64 place = i64(blockIdx.x) * 256 + threadIdx.x;  // of a feature of a segment
    const Index segment = Index(place / results.num_features);
    if (segment < segments.num_segments && segment_begin(segments, segment) == segment_end(segments, segment))
        store_feature(results, segment, 0, place, identity());
}

// Returns the segment that holds `item`, which must be one of `first` to `last`. It is the last segment that
// begins at or before the item, so empty segments are skipped.
__device__ __forceinline__ Index find_segment(const Segments& segments, Index item, Index first, Index last)
{
    while (first < last) {
        const Index middle = last - (last - first) / 2;
        if (segments.offsets[middle] <= item)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

// A segment and the range of its items.
struct Place {
    Index segment;
    Index begin;
    Index end;
};

__device__ __forceinline__ Place place_of(const Segments& segments, Index segment)
{
    return {segment, segment_begin(segments, segment), segment_end(segments, segment)};
}

// Makes `place` the segment of `item`, which is the next item on the way of the scan. The segment is one of
// `first` to `last`.
__device__ __forceinline__ void go_to_item(Place& place, const Segments& segments, Index item, Index first,
                                           Index last)
{
    if (item < place.end)
        return;
    Index segment = place.segment + 1;
    if (segment_end(segments, segment) <= item)  // the segment is empty, as the next ones may be
        segment = find_segment(segments, item, segment, last);
    place = place_of(segments, segment);
}

// True if the scan enters, or leaves, a segment with this item.
__device__ __forceinline__ bool is_entry(const Place& place, Index item) { return item == place.begin; }
__device__ __forceinline__ bool is_exit(const Place& place, Index item) { return item + 1 == place.end; }

// Returns the element of the input that is item `item`, which belongs to segment `place`.
__device__ __forceinline__ Index element_of(const Segments&, const Place&, Index item) { return item; }

constexpr int kProbes = 2;  // ends that a lane tests in a round

// Returns the first segment s with segment_end(s) + weight * (s + 1) >= place, or the last segment if there
// is none. Each half of a warp searches for its own place.
__device__ __forceinline__ Index search_ends(const Segments& segments, long long place, int weight)
{
    constexpr int kHalf = kWarpThreads / 2;
    const int lane = threadIdx.x % kWarpThreads;
    Index low = 0;  // the answer is one of low to high
    Index high = segments.num_segments - 1;
    while (__any_sync(kFullMask, low < high)) {
        const Index step = (high - low) / (kHalf * kProbes) + 1;
        bool before[kProbes];
        #pragma unroll
        for (int k = 0; k < kProbes; ++k) {
            const Index probe = low + (k * kHalf + lane % kHalf) * step;
            before[k] = probe < high && segments.offsets[probe + 1] + (long long)weight * (probe + 1) < place;
        }
        int count = 0;
        #pragma unroll
        for (int k = 0; k < kProbes; ++k)
            count += __popc(__ballot_sync(kFullMask, before[k]) >> lane / kHalf * kHalf & 0xffff);
        if (count > 0) {
            high = min(high, low + count * step);
            low += (count - 1) * step + 1;
        } else {
            high = low;
        }
    }
    return low;
}

// Joins the state of the items that a scan has passed with the state of the next items on its way.
__device__ __forceinline__ State join_on_way(State passed, State next)
{
    return combine(passed, next);
}

// The fold of consecutive items: whether a segment ends among them, and the total of the items behind the
// last end, or of all items if no segment ends.
struct Run {
    State total;
    bool ends;
};

// The operator on runs. It is associative like combine(), and never commutative.
__device__ __forceinline__ Run join(Run earlier, Run later)
{
    return {later.ends ? later.total : combine(earlier.total, later.total), earlier.ends || later.ends};
}

// A state in pieces of 32 bits. Each piece travels in a word of 64 bits, together with a mark that the piece
// has come. So a reader knows which pieces have come, and needs no fence.
constexpr int kStatePieces = (int(sizeof(State)) + 3) / 4;

union StatePieces {
    State state;
    unsigned at[kStatePieces];
};

__device__ __forceinline__ StatePieces pieces_of(const State& state)
{
    StatePieces pieces;
    pieces.at[kStatePieces - 1] = 0;  // the state may not fill the last piece
    pieces.state = state;
    return pieces;
}

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
    Runs neighbour;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        neighbour.totals[v] = shuffle_up(runs.totals[v], kFeatureLanes);
    neighbour.ends = __shfl_up_sync(kFullMask, int(runs.ends), kFeatureLanes);
    if (lane >= kFeatureLanes)
        before = neighbour;
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
__device__ __forceinline__ int way_row(int k) { return k; }

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

// A block takes a tile of consecutive rows and a block of features. kFeatureLanes lanes side by side hold
// neighbouring vectors of a row; each group of them keeps kRowsPerLane consecutive rows in registers.
// The way of the scan passes tiles, groups and rows from the first to the last.
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
    const Index tile_begin = turn * kTileRows;
    const Index begin = tile_begin + group * kRowsPerLane;
    const Index tile_end = min(tile_begin + kTileRows, segments.num_items);
    // ptxas 13.0 gets a comparison of the clamped count with its greatest value wrong.
    const bool is_whole = tile_end - begin >= kRowsPerLane;
    const int count = is_whole ? kRowsPerLane : int(max(tile_end - begin, Index(0)));
    const bool is_vector = rows_are_vectors(inputs, results, num_features);

    Row rows[kRowsPerLane];
    // Rows are asked for before it is known where segments begin. Constant arguments keep branches and
    // products from between the loads.
    if (is_vector && is_whole)
        load_lane_rows(rows, inputs, begin, kRowsPerLane, feature, num_features, true);
    else if (is_vector && count > 0)
        load_lane_rows(rows, inputs, begin, count, feature, num_features, true);
    else if (count > 0)
        load_lane_rows(rows, inputs, begin, count, feature, num_features, false);
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
    // The segment of the tile's first row on the way, and the tile in which the way enters it.
    const Place open = place_of(segments, find_segment(segments, tile_begin, first_segment, first_segment));
    const bool is_inside = !is_entry(open, tile_begin);
    const Index entry_turn = open.begin / kTileRows;

    Place entered = {};  // the segment of the lane's first row on the way
    if (count > 0) {
        const Index item = begin;
        entered = place_of(segments, find_segment(segments, item, first_segment, last_segment));
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
            const State own = lift_row(inputs, rows[at], v, index, position, place.segment);
            const State passed = enters ? identity() : states[v];
            states[v] = enters ? own : join_on_way(states[v], own);
            keep_scanned(outputs, v, scan_row(inputs, rows[at], v, passed, states[v], index, position,
                                              place.segment));
        }
        store_scanned(results, index, feature, num_features, is_vector, outputs);
        if (is_exit(place, item))
            store_row(results, place.segment, place.end - place.begin, feature, num_features, is_vector,
                      states);
    }
}
