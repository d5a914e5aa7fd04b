//% piece finished
[[gnu::always_inline]] static inline Finished finished(const Results&@results@, Index@segment@)
{
    return {
//% each result
        results.@name@[segment],
//% end
    };
}

//% piece map_item
// Maps the element at `index` with the results of its segment, and writes its outputs.
[[gnu::always_inline]] static inline void map_item(const Inputs&@inputs@, const Results& results,
                                                   const Finished&@total@, Index index, Index@position@,
                                                   Index@segment@, Index@length@)
{
    const Mapped mapped = map_element(@arguments@);
//% each output
    results.@name@[index] = mapped.@name@;
//% end
}

//% piece gather_feature
// Returns a feature of an entry of a table. An entry outside of the table sets `outside` to 1, and its
// features are zero.
[[gnu::always_inline]] static inline @type@ gather_feature(const @table@& table, i64 entry, Index feature,
                                                          Index num_features)
{
    if (u64(entry) < u64(table.length))
        return table.at[entry * num_features + feature];
    __atomic_store_n(table.outside, 1u, __ATOMIC_RELAXED);
    return {};
}

//% piece map_feature
// Maps a feature of the element at `index` with the same feature of its segment's results, and writes its
// outputs.
[[gnu::always_inline]] static inline void map_feature(const Inputs&@inputs@, const Results& results,
                                                      Index index, Index@position@, Index segment,
                                                      Index@length@, Index feature, Index num_features)
{
    const i64 place = i64(index) * num_features + feature;
    [[maybe_unused]] const i64 total = i64(segment) * num_features + feature;
//% each seen
    (void)@value@;
//% end
    const Mapped mapped = map_element(@arguments@);
//% each output
    results.@name@[place] = mapped.@name@;
//% end
}
