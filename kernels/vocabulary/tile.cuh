//% piece Tile
// The elements of a warp's tile, with a row of kItemsPerThread for each lane; see tile_place().
struct Tile {
//% each column
    alignas(16) @type@ @name@[kItemsPerThread * kWarpThreads];
//% end
};

//% piece copy_tile
// Starts to copy a tile of elements from `begin` on; elements at `end` and beyond become zero.
__device__ __forceinline__ void copy_tile(Tile& tile, const Inputs& inputs, Index begin, Index end)
{
//% each column
    copy_column((char*)tile.@name@, (const char*)(inputs.@name@ + begin), @bytes@, end - begin);
//% end
}

//% piece Items
//% each column
struct alignas(@chunk_bytes@) @chunk@ {
    @chunk_type@ @chunk_at@;
};

//% end
// Elements of kStepItems consecutive items.
struct Items {
//% each column
    @chunk@ @name@[@num_chunks@];
//% end
};

//% piece take_items
// Returns the items of this lane's row from step * kStepItems on.
__device__ __forceinline__ Items take_items(const Tile& tile, int step)
{
    const int lane = threadIdx.x % kWarpThreads;
    Items items;
//% each column
//% each chunk
    items.@name@[@i@] = *(const @chunk@*)((const char*)tile.@name@ + tile_place(lane, step * @step_bytes@@plus_bytes@, kItemsPerThread * @bytes@));
//% end
//% end
    return items;
}

//% piece take_row_items
// Returns the items of row `row` from step * kStepItems on.
__device__ __forceinline__ Items take_row_items(const Tile& tile, int row, int step)
{
    Items items;
//% each column
//% each chunk
    items.@name@[@i@] = *(const @chunk@*)((const char*)tile.@name@ + tile_place(row, step * @step_bytes@@plus_bytes@, kItemsPerThread * @bytes@));
//% end
//% end
    return items;
}

//% piece load_items
// Loads `count` items from the element at `index` on; the others become zero.
__device__ __forceinline__ Items load_items(const Inputs& inputs, Index index, int count)
{
    Items items = {};
//% each column
    if (count >= kStepItems && (unsigned long long)(inputs.@name@ + index) % alignof(@chunk@) == 0) {
//% each chunk
        items.@name@[@i@] = *(const @chunk@*)(inputs.@name@ + index@plus_items@);
//% end
    } else {
        #pragma unroll
        for (int k = 0; k < kStepItems; ++k)
            if (k < count)
                @put@;
    }
//% end
    return items;
}

//% piece is_aligned
// True if load_vectors() may be called.
__device__ __forceinline__ bool is_aligned(const Inputs&@inputs@)
{
    return @conditions@;
}

//% piece condition
(unsigned long long)inputs.@name@ % alignof(@chunk@) == 0

//% piece load_vectors
// Loads the kStepItems items from the element at `index` on. `index` must be a multiple of kStepItems, and
// all items must exist.
__device__ __forceinline__ Items load_vectors(const Inputs& inputs, Index index)
{
    Items items;
//% each column
//% each chunk
    items.@name@[@i@] = *(const @chunk@*)(inputs.@name@ + index@plus_items@);
//% end
//% end
    return items;
}

//% piece SharedVectors
// Vectors of kStepItems items in shared memory: kSharedVectors of each thread, which alone reads them.
struct SharedVectors {
//% each column
    @chunk@ @name@[@num_chunks@][kSharedVectors][kBlockThreads];
//% end
};

//% piece copy_vectors
// Starts to copy the kStepItems items from the element at `index` on to vector `v` of this thread. `index` must
// be a multiple of kStepItems, and all items must exist.
__device__ __forceinline__ void copy_vectors(SharedVectors& to, int v, const Inputs& inputs, Index index)
{
//% each column
//% each chunk
    copy_chunk_async(&to.@name@[@i@][v][threadIdx.x], inputs.@name@ + index@plus_items@, @chunk_bytes@);
//% end
//% end
}

//% piece shared_vectors
// Returns vector `v` of this thread.
__device__ __forceinline__ Items shared_vectors(const SharedVectors& from, int v)
{
    Items items;
//% each column
//% each chunk
    items.@name@[@i@] = from.@name@[@i@][v][threadIdx.x];
//% end
//% end
    return items;
}

//% piece element_address
// Returns the address of the element at `index`, which already is a state.
__device__ __forceinline__ const State* element_address(const Inputs& inputs, Index index)
{
    return inputs.@name@ + index;
}

//% piece lift_item
// Lifts item k of a step, which is the element at `index`.
__device__ __forceinline__ State lift_item(const Inputs&@inputs@, const Items& items, int k, Index@index@)
{
    return lift(@arguments@);
}

//% piece append_item
// Appends item k of a step, which is the element at `index`, to `run`.
__device__ __forceinline__ State append_item(State run, const Inputs&@inputs@, const Items& items, int k, Index@index@)
{
    return append(run, @arguments@);
}

//% piece append_byte_item
// Appends item k of a step to `run`: one instruction takes the byte out of its word and adds it.
__device__ __forceinline__ State append_item(State run, const Inputs&, const Items& items, int k, Index)
{
    return State(__dp4a(@type@(items.@name@[0].words[k / 4]), @type@(1) << k % 4 * 8, @type@(run)));
}

//% piece add_bytes
// Adds some bytes of word `word` of a step to `run`: those for which the byte in `which` is 1.
__device__ __forceinline__ State add_bytes(State run, const Items& items, int word, unsigned which)
{
    return State(__dp4a(@type@(items.@name@[0].words[word]), @type@(which), @type@(run)));
}

//% piece lift_at
// Lifts item `item` of a warp's tile, which is the element at `index`.
__device__ __forceinline__ State lift_at(const Inputs&@inputs@, const Tile& tile, int item, Index@index@)
{
    return lift(@arguments@);
}
