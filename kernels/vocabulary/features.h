//% piece find_features
// Returns the address of features of an entry of a table, from `feature` on. An entry outside of the table
// sets `outside` to 1, and its features are zeros.
[[gnu::always_inline]] static inline const @type@* find_features(const @table@& table, i64 entry,
                                                                 Index feature, Index num_features)
{
    static const @type@ kNoFeatures[kFeatureLanes] = {};
    if (u64(entry) < u64(table.length))
        return table.at + entry * num_features + feature;
    __atomic_store_n(table.outside, 1u, __ATOMIC_RELAXED);
    return kNoFeatures;
}

//% piece Row
// One element: the numbers of its columns, and the begin of a block of features in each of its rows.
struct Row {
//% each number
    @type@ @name@;
//% end
//% each row
    const @type@* @name@;
//% end
//% each read
    const @type@* @name@;
//% end
};

//% piece find_row
// Returns the element at `index`; `feature` is the first feature of the block.
[[gnu::always_inline]] static inline Row find_row(const Inputs& inputs, Index@index@, Index@position@,
                                                  Index@segment@, Index feature, Index num_features)
{
    Row row;
//% each number
    row.@name@ = inputs.@name@[index];
//% end
//% each row
    row.@name@ = inputs.@name@ + i64(index) * num_features + feature;
    __builtin_prefetch((const char*)row.@name@ + kPrefetchBytes, 0, 2);
//% end
//% each read
//% each checked
    row.@name@ = find_features(inputs.@table@, @place@, feature, num_features);
//% end
//% each trusted
    row.@name@ = inputs.@table@ + @place@ * num_features + feature;
//% end
//% end
    return row;
}

//% piece lift_feature
// Lifts feature `k` of the block.
[[gnu::always_inline]] static inline State lift_feature(const Inputs&@inputs@, const Row& row, int k,
                                                        Index@index@, Index@position@, Index@segment@)
{
    return lift(@arguments@);
}

//% piece store_feature
// Finishes the total of one feature, and writes each of its results at `place`.
[[gnu::always_inline]] static inline void store_feature(const Results& results, Index segment, Index length,
                                                        i64 place, State total)
{
    const RowResult result = finish_row(segment, length, total);
//% each result
    results.@name@[place] = result.@name@;
//% end
}
