//% piece scan_item
// Writes the outputs of the element at `index` of the input, from its segment's states before this element
// and with it.
[[gnu::always_inline]] static inline void scan_item(const Inputs&@inputs@, const Results& results,
                                                    State@before@, State@through@, Index index,
                                                    Index@position@, Index@segment@)
{
    const Scanned scanned = scan_element(@arguments@);
//% each output
    results.@name@[index] = scanned.@name@;
//% end
}

//% piece scan_feature
// Writes the outputs of one feature of the element at `index`, from its segment's states before this element
// and with it.
[[gnu::always_inline]] static inline void scan_feature(const Inputs&@inputs@, const Results& results,
                                                       State@before@, State@through@, Index index,
                                                       Index@position@, Index@segment@, Index feature,
                                                       Index num_features)
{
    const i64 place = i64(index) * num_features + feature;
//% each seen
    (void)@value@;
//% end
    const Scanned scanned = scan_element(@arguments@);
//% each output
    results.@name@[place] = scanned.@name@;
//% end
}
