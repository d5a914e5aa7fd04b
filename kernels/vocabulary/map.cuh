//% piece Finished
// The finished results of a segment.
struct Finished {
//% each result
    @type@ @name@;
//% end
};

//% piece finished
__device__ __forceinline__ Finished finished(const Results& results, Index segment)
{
    return {
//% each result
        results.@name@[segment],
//% end
    };
}

//% piece Mapped
// The outputs of one element.
struct @mapped@ {
//% each output
    @type@ @name@;
//% end
};

//% piece MapItems
//% each column
struct alignas(@chunk_bytes@) @map_chunk@ {
    @type@ at[@chunk_items@];
};

//% end
// @num_items@ consecutive elements of the columns that @who@ reads.
struct @items_type@ {
//% each column
    @map_chunk@ @name@[@num_chunks@];
//% end
};

//% piece load_map_items
// Loads `count` elements from the element at `index` on; the others become zero.
__device__ __forceinline__ @items_type@ @load@(const Inputs&@inputs@, Index@index@, int@count@)
{
    @items_type@ items = {};
//% each column
    if (count == @num_items@ && (unsigned long long)(inputs.@name@ + index) % alignof(@map_chunk@) == 0) {
//% each chunk
        items.@name@[@i@] = *(const @map_chunk@*)(inputs.@name@ + index@plus_items@);
//% end
    } else {
        #pragma unroll
        for (int k = 0; k < @num_items@; ++k)
            if (k < count)
                items.@name@[k / @chunk_items@].at[k % @chunk_items@] = inputs.@name@[index + k];
    }
//% end
    return items;
}

//% piece take_map_items
// Returns the items `item` to `item` + kMapItems - 1 of a tile. The first of them is the element at `index`.
// Columns that the tile does not hold are loaded from memory, `count` elements of each.
__device__ __forceinline__ MapItems take_map_items(const Tile&@tile@, const Inputs&@inputs@, int@item@,
                                                   Index@index@, int@count@)
{
    MapItems items = {};
//% each held
//% each chunk
    items.@name@[@i@] = *(const @map_chunk@*)((const char*)tile.@name@ + tile_place(item / kItemsPerThread, (item % kItemsPerThread@plus_items@) * @bytes@, kItemsPerThread * @bytes@));
//% end
//% end
//% each loaded
    if (count >= kMapItems && (unsigned long long)(inputs.@name@ + index) % alignof(@map_chunk@) == 0) {
//% each chunk
        items.@name@[@i@] = *(const @map_chunk@*)(inputs.@name@ + index@plus_items@);
//% end
    } else {
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k)
            if (k < count)
                items.@name@[k / @chunk_items@].at[k % @chunk_items@] = inputs.@name@[index + k];
    }
//% end
    return items;
}

//% piece OtherItems
// kMapItems consecutive elements of the columns that map reads and lift does not.
struct OtherItems {
//% each loaded
    @map_chunk@ @name@[@num_chunks@];
//% end
};

//% piece load_other_items
// Loads `count` elements of these columns, from the element at `index` on; the others become zero.
__device__ __forceinline__ OtherItems load_other_items(const Inputs&@inputs@, Index@index@, int@count@)
{
    OtherItems items = {};
//% each loaded
    if (count >= kMapItems && (unsigned long long)(inputs.@name@ + index) % alignof(@map_chunk@) == 0) {
//% each chunk
        items.@name@[@i@] = *(const @map_chunk@*)(inputs.@name@ + index@plus_items@);
//% end
    } else {
        #pragma unroll
        for (int k = 0; k < kMapItems; ++k)
            if (k < count)
                items.@name@[k / @chunk_items@].at[k % @chunk_items@] = inputs.@name@[index + k];
    }
//% end
    return items;
}

//% piece map_items_of
// Returns the elements of a step in the form that map takes. kStepItems must be kMapItems.
__device__ __forceinline__ MapItems map_items_of(const Items&@step@, const OtherItems&@other@)
{
    MapItems items = {};
//% each held
    #pragma unroll
    for (int k = 0; k < kMapItems; ++k)
        items.@name@[k / @chunk_items@].at[k % @chunk_items@] = @held_item@;
//% end
//% each loaded
    #pragma unroll
    for (int k = 0; k < @num_chunks@; ++k)
        items.@name@[k] = other.@name@[k];
//% end
    return items;
}

//% piece map_item
// Maps element k of `items` with the results of its segment.
//% each without_tables
__device__ __forceinline__ Mapped map_item(const MapItems&@items@, int@k@, const Finished&@total@,
//% end
//% each with_tables
__device__ __forceinline__ Mapped map_item(const Inputs&@item_inputs@, const MapItems&@items@, int@k@,
                                           const Finished&@total@,
//% end
                                           Index@index@, Index@position@, Index@segment@, Index@length@)
{
    return map_element(@arguments@);
}

//% piece SegmentValues
// The values of a segment that map needs.
struct SegmentValues {
//% each value
    @type@ @name@;
//% end
};

//% piece segment_values
// Returns the values of a segment whose elements combine to `state`. No result of an operator can be called
// `state`, because this is a keyword of the language.
//% each without_tables
__device__ __forceinline__ SegmentValues segment_values(Index segment, Index length, State state)
//% end
//% each with_tables
__device__ __forceinline__ SegmentValues segment_values(const Inputs&@values_inputs@, Index segment, Index length,
                                                        State state)
//% end
{
    const RowResult results = finish_row(segment, length, state);
@definitions@    return {@returned@};
}

//% piece map_tile_item
// Maps element k of `items` with the values of its segment.
//% each without_tables
__device__ __forceinline__ Mapped map_tile_item(const MapItems&@items@, int@k@, const SegmentValues&@values@,
//% end
//% each with_tables
__device__ __forceinline__ Mapped map_tile_item(const Inputs&@item_inputs@, const MapItems&@items@, int@k@,
                                                const SegmentValues&@values@,
//% end
                                                Index@index@, Index@position@, Index@segment@,
                                                Index@length@)
{
    return map_with_values(@arguments@);
}

//% piece MapOutputs
//% each output
struct alignas(@chunk_bytes@) @map_chunk@ {
    @type@ at[@chunk_items@];
};

//% end
// The outputs of @num_items@ consecutive elements.
struct @outputs_type@ {
//% each output
    @map_chunk@ @name@[@num_chunks@];
//% end
};

//% piece keep_output
__device__ __forceinline__ void @keep@(@outputs_type@& outputs, int k, const @mapped@& mapped)
{
//% each output
    outputs.@name@[k / @chunk_items@].at[k % @chunk_items@] = mapped.@name@;
//% end
}

//% piece store_outputs
// Writes the outputs of `count` elements, from the element at `index` on.
__device__ __forceinline__ void @store@(const Results& results, Index index, int count,
                                              const @outputs_type@& outputs)
{
//% each output
    if (count == @num_items@ && (unsigned long long)(results.@name@ + index) % alignof(@map_chunk@) == 0) {
//% each chunk
        *(@map_chunk@*)(results.@name@ + index@plus_items@) = outputs.@name@[@i@];
//% end
    } else {
        #pragma unroll
        for (int k = 0; k < @num_items@; ++k)
            if (k < count)
                results.@name@[index + k] = outputs.@name@[k / @chunk_items@].at[k % @chunk_items@];
    }
//% end
}

//% piece outputs_are_aligned
// True if store_vectors() may be called.
__device__ __forceinline__ bool outputs_are_aligned(const Results& results)
{
    return @aligned@;
}

//% piece output_is_aligned
(unsigned long long)results.@name@ % alignof(@map_chunk@) == 0

//% piece store_vectors
// Writes the outputs of all kMapItems elements from the element at `index` on. `index` must be a multiple of
// kMapItems, and all elements must exist.
__device__ __forceinline__ void store_vectors(const Results& results, Index index, const MapOutputs& outputs)
{
//% each output
//% each chunk
    *(@map_chunk@*)(results.@name@ + index@plus_items@) = outputs.@name@[@i@];
//% end
//% end
}

//% piece store_output
// Writes the outputs of element k alone, which is the element at `index`.
__device__ __forceinline__ void store_output(const Results& results, Index index, const MapOutputs& outputs,
                                             int k)
{
//% each output
    results.@name@[index] = outputs.@name@[k / @chunk_items@].at[k % @chunk_items@];
//% end
}
