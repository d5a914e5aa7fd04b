//% piece scan_item
// Returns the outputs of element k of `items`, from its segment's states before this element and with it.
__device__ __forceinline__ Scanned scan_item(const Inputs&@item_inputs@, const ScanItems&@items@, int@k@,
                                             State@before@, State@through@, Index@index@, Index@position@,
                                             Index@segment@)
{
    return scan_element(@arguments@);
}

//% piece ScannedTile
// The outputs of a warp's tile, with a row of kItemsPerThread for each lane; see tile_place().
struct ScannedTile {
//% each output
    alignas(16) @type@ @name@[kItemsPerThread * kWarpThreads];
//% end
};

//% piece put_scanned
// Puts the outputs of a step into row `row`, from its item `first` on.
__device__ __forceinline__ void put_scanned(ScannedTile& tile, int row, int first, const ScanOutputs& outputs)
{
//% each output
//% each chunk
    *(@map_chunk@*)((char*)tile.@name@ + tile_place(row, (first@plus_items@) * @bytes@, kItemsPerThread * @bytes@)) = outputs.@name@[@i@];
//% end
//% end
}

//% piece store_scanned_tile
// Writes the outputs of a warp's tile, of which `count` elements exist, from the element at `index` on.
__device__ __forceinline__ void store_scanned_tile(const Results& results, Index index, Index count,
                                                   const ScannedTile& tile)
{
//% each output
    store_column((char*)(results.@name@ + index), (const char*)tile.@name@, @bytes@, count);
//% end
}

//% piece scan_row
// Feature v of a Row: its outputs, from the states of its segment before it and with it.
__device__ __forceinline__ Scanned scan_row(const Inputs&@inputs@, const Row&@row@, int@v@, State@before@,
                                            State@through@, Index@index@, Index@position@, Index@segment@)
{
    return scan_element(@arguments@);
}

//% piece ScannedRow
// The outputs of one element for a lane's features.
struct ScannedRow {
//% each output
    Features_@word@ @name@;
//% end
};

//% piece keep_scanned of a row
__device__ __forceinline__ void keep_scanned(ScannedRow& outputs, int v, const Scanned& scanned)
{
//% each output
    outputs.@name@.at[v] = scanned.@name@;
//% end
}

//% piece store_scanned of a row
// Writes the outputs of one element for a lane's features, the first of which is `feature`.
__device__ __forceinline__ void store_scanned(const Results& results, Index index, int feature,
                                              int num_features, bool is_vector, const ScannedRow& outputs)
{
    const int count = num_features - feature;
//% each output
    store_features(row_at(results.@name@ + feature, index, num_features), count, is_vector, outputs.@name@);
//% end
}
