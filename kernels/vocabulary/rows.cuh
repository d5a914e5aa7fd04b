//% piece rows_apart
// Returns the number of bytes between the begins of row 0 and row `row`. A row has `row_bytes` bytes.
__device__ __forceinline__ i64 rows_apart(Index row, int row_bytes)
{
//% each narrow
    // If the compiler widens a factor early, i64(row) * row_bytes becomes a product of 64 bits: six
    // instructions instead of one.
    i64 bytes;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(bytes) : "r"(row), "r"(row_bytes));
    return bytes;
//% end
//% each wide
    return row * row_bytes;
//% end
}

//% piece features
// kFeaturesPerLane neighbouring features of a row.
struct alignas(kFeaturesPerLane * @bytes@ < 16 ? kFeaturesPerLane * @bytes@ : 16) Features_@word@ {
    @type@ at[kFeaturesPerLane];
};

// Returns the address of a feature in row `row`. Its address in row 0 is `first`.
__device__ __forceinline__ const @type@* row_at(const @type@* first, Index row, int num_features)
{
    return (const @type@*)((const char*)first + rows_apart(row, num_features * int(sizeof(@type@))));
}

__device__ __forceinline__ @type@* row_at(@type@* first, Index row, int num_features)
{
    return (@type@*)((char*)first + rows_apart(row, num_features * int(sizeof(@type@))));
}

// Loads a lane's features. `count` features of the row are left from the lane's first feature on; features
// beyond them become zero.
__device__ __forceinline__ Features_@word@ load_features(const @type@* from, int count, bool is_vector)
{
    Features_@word@ features = {};
    if (is_vector) {
        if (count > 0)
            features = *(const Features_@word@*)from;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                features.at[v] = from[v];
    }
    return features;
}

__device__ __forceinline__ void store_features(@type@* to, int count, bool is_vector,
                                               const Features_@word@& features)
{
    if (is_vector) {
        if (count > 0)
            *(Features_@word@*)to = features;
    } else {
        #pragma unroll
        for (int v = 0; v < kFeaturesPerLane; ++v)
            if (v < count)
                to[v] = features.at[v];
    }
}

//% piece Row
// One element: the numbers of its columns, and a lane's features of its rows.
struct Row {
//% each number
    @type@ @name@;
//% end
//% each row
    Features_@word@ @name@;
//% end
//% each read
    Features_@word@ @name@;
//% each checked
    i64 @name@_place;  // -1 outside of the table
//% end
//% end
};

//% piece load_numbers
// First step of loading an element: its numbers, which determine the places in tables of rows.
__device__ __forceinline__ void load_numbers(Row&@row@, const Inputs&@inputs@, Index@index@)
{
//% each number
    row.@name@ = inputs.@name@[index];
//% end
}

//% piece shuffle_numbers
// Fetches, of the element that lane `lane` holds, the numbers that @purpose@.
// All lanes of `mask` must call it.
__device__ __forceinline__ void @function@(Row&@row@, const Row&@held@, unsigned@mask@, int@lane@)
{
//% each number
    row.@name@ = @value@;
//% end
}

//% piece find_rows
// Second step of loading an element: the places of its rows in checked tables.
__device__ __forceinline__ void find_rows(Row&@row@, const Inputs&@inputs@, Index@index@, Index@position@,
                                          Index@segment@)
{
//% each read
//% each checked
    const i64 @name@_place = @place@;
    const bool @name@_is_inside = u64(@name@_place) < u64(inputs.@table@.length);
    inputs.@table@.is_outside |= !@name@_is_inside;
    row.@name@_place = @name@_is_inside ? @name@_place : -1;
//% end
//% end
}

//% piece load_rows
// Last step of loading an element: its rows. `feature` is the lane's first feature.
__device__ __forceinline__ void load_rows(Row& row, const Inputs& inputs, Index@index@, Index@position@,
                                          Index@segment@, int feature, int num_features, bool is_vector)
{
    // In vectors, lanes behind the row's end load its last vector, and do not store it.
    const int first = is_vector ? min(feature, num_features - kFeaturesPerLane) : feature;
    const int count = is_vector ? kFeaturesPerLane : num_features - feature;
//% each row
    row.@name@ = load_features(row_at(inputs.@name@ + first, index, num_features), count, is_vector);
//% end
//% each read
//% each checked
    row.@name@ = load_features(inputs.@table@.at + max(row.@name@_place, i64(0)) * num_features + first,
                               row.@name@_place < 0 ? 0 : count, is_vector);
//% end
//% each trusted
    const i64 @name@_place = @place@;
    row.@name@ = load_features(inputs.@table@ + @name@_place * num_features + first, count, is_vector);
//% end
//% end
}

//% piece lift_row
// Lifts feature v of the lane's features.
__device__ __forceinline__ State lift_row(const Inputs&@inputs@, const Row&@row@, int@v@, Index@index@,
                                          Index@position@, Index@segment@)
{
    return lift(@arguments@);
}

//% piece rows_are_vectors
// True if features are loaded and stored in vectors: rows consist of whole vectors and begin at aligned
// addresses.
__device__ __forceinline__ bool rows_are_vectors(const Inputs& inputs, const Results& results,
                                                 int num_features)
{
    return num_features % kFeaturesPerLane == 0
//% each pointer
        && (unsigned long long)@place@ % alignof(Features_@word@) == 0
//% end
        ;
}

//% piece store_row
// Finishes the totals of a lane's features and writes their results.
__device__ __forceinline__ void store_row(const Results& results, Index segment, Index length, int feature,
                                          int num_features, bool is_vector,
                                          const State (&totals)[kFeaturesPerLane])
{
//% each result
    Features_@word@ to_@name@;
//% end
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
        const RowResult result = finish_row(segment, length, totals[v]);
//% each result
        to_@name@.at[v] = result.@name@;
//% end
    }
    const i64 place = i64(segment) * num_features + feature;
    const int count = num_features - feature;
//% each result
    store_features(results.@name@ + place, count, is_vector, to_@name@);
//% end
}

//% piece store_feature
// Finishes the total of one feature, and writes each of its results at `place`.
__device__ __forceinline__ void store_feature(const Results& results, Index segment, Index length, i64 place,
                                              State total)
{
    const RowResult result = finish_row(segment, length, total);
//% each result
    results.@name@[place] = result.@name@;
//% end
}

//% piece load_entry
// Loads a lane's features of an entry of a table.
__device__ __forceinline__ Features_@word@ load_entry(const @type@* table, i64 entry, int feature,
                                                      int num_features, bool is_vector)
{
    return load_features(table + entry * num_features + feature, num_features - feature, is_vector);
}

//% piece load_entry of a checked table
// Loads a lane's features of an entry of a table. An entry outside of the table sets `is_outside`, and its
// features are zeros.
__device__ __forceinline__ Features_@word@ load_entry(const @table@& table, i64 entry, int feature,
                                                      int num_features, bool is_vector)
{
    const bool is_inside = u64(entry) < u64(table.length);
    table.is_outside |= !is_inside;
    return load_features(table.at + (is_inside ? entry : 0) * num_features + feature,
                         is_inside ? num_features - feature : 0, is_vector);
}

//% piece map_row
// Maps a lane's features of one element with the results of its segment.
__device__ __forceinline__ void map_row(const Inputs& inputs, const Results& results, Index index,
                                        Index@position@, Index segment, Index@length@, int feature,
                                        int num_features, bool is_vector)
{
    const int count = num_features - feature;
//% each number
    const @type@ of_@name@ = inputs.@name@[index];
//% end
//% each row
    const Features_@word@ of_@name@ =
        load_features(row_at(inputs.@name@ + feature, index, num_features), count, is_vector);
//% end
//% each result
    const Features_@word@ of_@name@ =
        load_features(results.@name@ + (i64(segment) * num_features + feature), count, is_vector);
//% end
//% each read
    const Features_@word@ of_@name@ =
        load_entry(inputs.@table@, @place@, feature, num_features, is_vector);
//% end
//% each seen
    load_entry(inputs.@table@, @place@, feature, num_features, is_vector);
//% end
//% each output
    Features_@word@ to_@name@;
//% end
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
//% each guarded
        if (v >= count)
            continue;  // no table is read for a feature that does not exist
//% end
        const Mapped mapped = map_element(@arguments@);
//% each output
        to_@name@.at[v] = mapped.@name@;
//% end
    }
//% each output
    store_features(row_at(results.@name@ + feature, index, num_features), count, is_vector, to_@name@);
//% end
}

//% piece store_results
// Writes the finished results of a lane's features.
__device__ __forceinline__ void store_results(const Results& results, Index segment, int feature,
                                              int num_features, bool is_vector,
                                              const RowResult (&row_results)[kFeaturesPerLane])
{
    const i64 place = i64(segment) * num_features + feature;
    const int count = num_features - feature;
//% each result
    Features_@word@ to_@name@;
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        to_@name@.at[v] = row_results[v].@name@;
    store_features(results.@name@ + place, count, is_vector, to_@name@);
//% end
}

//% piece MapRow
// The inputs of map for one element: the numbers of its columns, and a lane's features of its rows.
struct MapRow {
//% each number
    @type@ @name@;
//% end
//% each row
    Features_@word@ @name@;
//% end
};

//% piece load_map_row
__device__ __forceinline__ void load_map_row(MapRow&@row@, const Inputs&@inputs@, Index@index@, int@feature@,
                                             int@num_features@, bool@is_vector@)
{
//% each number
    row.@name@ = inputs.@name@[index];
//% end
//% each row
    row.@name@ = load_features(row_at(inputs.@name@ + feature, index, num_features), num_features - feature,
                               is_vector);
//% end
}

//% piece load_row_results
// Loads the results that map uses, for a lane's features.
__device__ __forceinline__ void load_row_results(RowResult (&@row_results@)[kFeaturesPerLane],
                                                 const Results&@results@, Index@segment@, int@feature@,
                                                 int@num_features@, bool@is_vector@)
{
//% each result
    const Features_@word@ of_@name@ = load_features(
        results.@name@ + (i64(segment) * num_features + feature), num_features - feature, is_vector);
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v)
        row_results[v].@name@ = of_@name@.at[v];
//% end
}

//% piece map_kept
// Maps a lane's features of one element. `row` holds the inputs of @reader@.
__device__ __forceinline__ void @function@(const Inputs&@inputs@, const Results& results, const @row_type@&@row@,
                                           const RowResult (&@row_results@)[kFeaturesPerLane], Index index,
                                           Index@position@, Index@segment@, Index@length@, int feature,
                                           int num_features, bool is_vector)
{
    const int count = num_features - feature;
//% each number
    const @type@ of_@name@ = inputs.@name@[index];
//% end
//% each row
    const Features_@word@ of_@name@ =
        load_features(row_at(inputs.@name@ + feature, index, num_features), count, is_vector);
//% end
//% each read
    const Features_@word@ of_@name@ =
        load_entry(inputs.@table@, @place@, feature, num_features, is_vector);
//% end
//% each seen
    load_entry(inputs.@table@, @place@, feature, num_features, is_vector);
//% end
//% each output
    Features_@word@ to_@name@;
//% end
    #pragma unroll
    for (int v = 0; v < kFeaturesPerLane; ++v) {
//% each guarded
        if (v >= count)
            continue;  // no table is read for a feature that does not exist
//% end
        const Mapped mapped = map_element(@arguments@);
//% each output
        to_@name@.at[v] = mapped.@name@;
//% end
    }
//% each output
    store_features(row_at(results.@name@ + feature, index, num_features), count, is_vector, to_@name@);
//% end
}
