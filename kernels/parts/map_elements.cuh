// Write-back: maps every element with the finished results of its segment. Runs after all launches that fold.
//% if ranges
//% use parts/segments/segment_extent.cuh
//% launch map_elements grid = min(ceil_div(num_segments, 8), num_multiprocessors * 8192)  block = 256
// A warp takes a segment; each of its lanes takes kMapItems consecutive elements at a time.
extern "C" __global__ void __launch_bounds__(256)
map_elements(Inputs inputs, Segments segments, Results results)
{
    const int warps = 256 / kWarpThreads;
    const int lane = threadIdx.x % kWarpThreads;
    const Index num_warps = Index(gridDim.x) * warps;
    for (Index segment = Index(blockIdx.x) * warps + threadIdx.x / kWarpThreads;
         segment < segments.num_segments; segment += num_warps) {
        const Index begin = segment_first(segments, segment);
        const Index length = segment_length(segments, segment);
        const Finished total = finished(results, segment);
        for (Index position = lane * kMapItems; position < length; position += kWarpThreads * kMapItems) {
            const int count = int(min(length - position, Index(kMapItems)));
            const MapItems items = load_map_items(inputs, begin + position, count);
            MapOutputs outputs = {};
            #pragma unroll
            for (int k = 0; k < kMapItems; ++k)
                if (k < count)
                    //% if map_uses_tables
                    keep_output(outputs, k, map_item(inputs, items, k, total, begin + position + k,
                                                     position + k, segment, length));
                    //% else
                    keep_output(outputs, k, map_item(items, k, total, begin + position + k, position + k,
                                                     segment, length));
                    //% end
            store_outputs(results, begin + position, count, outputs);
        }
    }
}
//% else
//% use parts/segments/find_segment.cuh
//% use parts/segments/segment_items.cuh
//% launch map_elements grid = min(ceil_div(num_items, 2048), num_multiprocessors * 8)  block = 256
constexpr int kMapThreads = 256;
constexpr int kMapSteps = 2;  // vectors that a thread loads at once
constexpr int kMapTile = kMapThreads * kMapItems * kMapSteps;
//% if offsets
constexpr int kMapEnds = 2048;  // ends of segments that a block keeps; a tile may have more

// Returns the place of the first of `ends` that lies behind `item`. There must be one.
__device__ __forceinline__ int find_end(const Index* ends, int num_ends, Index item)
{
    int low = 0;
    int high = num_ends - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ends[middle] > item)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
//% end

// A block takes consecutive tiles. A thread takes kMapItems consecutive elements of a tile at a time, so that
// neighbouring threads read and write neighbouring vectors of all arrays.
//% if offsets
// The ends of the tile's segments lie in shared memory, where each thread searches its own. If a tile has
// more ends, because most segments are empty, threads search in global memory.
//% end
extern "C" __global__ void __launch_bounds__(kMapThreads)
map_elements(Inputs inputs, Segments segments, Results results)
{
    const Index num_tiles = (segments.num_items + kMapTile - 1) / kMapTile;
    const Index share = (num_tiles + gridDim.x - 1) / gridDim.x;
    const Index first_tile = Index(blockIdx.x) * share;
    const Index last_tile = min(first_tile + share, num_tiles);
    if (first_tile >= last_tile)
        return;
    //% if offsets
    __shared__ Index ends[kMapEnds];
    const Index last_segment = segments.num_segments - 1;
    Index first = find_segment(segments, first_tile * kMapTile, 0, last_segment);
    //% end
    for (Index tile = first_tile; tile < last_tile; ++tile) {
        const Index begin = tile * kMapTile;
        const Index end = min(begin + kMapTile, segments.num_items);
        MapItems items[kMapSteps];
        #pragma unroll
        for (int step = 0; step < kMapSteps; ++step) {
            const Index item = begin + (step * kMapThreads + int(threadIdx.x)) * kMapItems;
            const int count = int(max(min(end - item, Index(kMapItems)), Index(0)));
            items[step] = load_map_items(inputs, item, count);
        }
        //% if offsets
        // Ends are read until one lies behind the tile.
        int num_ends = 0;
        bool is_open = true;
        #pragma unroll 1
        while (is_open && num_ends < kMapEnds) {
            const Index segment = first + num_ends + int(threadIdx.x);
            const Index its_end = segment <= last_segment ? segments.offsets[segment + 1] : end + 1;
            ends[num_ends + int(threadIdx.x)] = its_end;
            num_ends += kMapThreads;
            // After this barrier, all ends of the round can be read.
            is_open = !__syncthreads_or(its_end > end);
        }
        //% end
        #pragma unroll
        for (int step = 0; step < kMapSteps; ++step) {
            const Index item = begin + (step * kMapThreads + int(threadIdx.x)) * kMapItems;
            const int count = int(max(min(end - item, Index(kMapItems)), Index(0)));
            if (count <= 0)
                continue;
            //% if offsets
            int place = is_open ? 0 : find_end(ends, num_ends, item);
            Index segment = is_open ? find_segment(segments, item, first, last_segment) : first + place;
            Index segment_stop = is_open ? segment_end(segments, segment) : ends[place];
            //% else
            Index segment = find_segment(segments, item, 0, 0);
            Index segment_stop = segment_end(segments, segment);
            //% end
            Finished total = finished(results, segment);
            MapOutputs outputs = {};
            #pragma unroll
            for (int k = 0; k < kMapItems; ++k) {
                if (k >= count)
                    break;
                if (item + k >= segment_stop) {
                    //% if offsets
                    if (is_open) {
                        segment = find_segment(segments, item + k, segment + 1, last_segment);
                        segment_stop = segment_end(segments, segment);
                    } else {
                        while (ends[place] <= item + k)
                            ++place;
                        segment = first + place;
                        segment_stop = ends[place];
                    }
                    //% else
                    ++segment;
                    segment_stop = segment_end(segments, segment);
                    //% end
                    total = finished(results, segment);
                }
                const Index segment_start = segment_begin(segments, segment);
                //% if map_uses_tables
                keep_output(outputs, k,
                            map_item(inputs, items[step], k, total, item + k, item + k - segment_start,
                                     segment, segment_end(segments, segment) - segment_start));
                //% else
                keep_output(outputs, k,
                            map_item(items[step], k, total, item + k, item + k - segment_start, segment,
                                     segment_end(segments, segment) - segment_start));
                //% end
            }
            store_outputs(results, item, count, outputs);
        }
        //% if offsets
        if (tile + 1 < last_tile)
            first = is_open ? find_segment(segments, end, first, last_segment)
                            : first + find_end(ends, num_ends, end);
        __syncthreads();  // all threads have read the ends
        //% end
    }
}
//% end
