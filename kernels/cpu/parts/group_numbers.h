// Each item has the number of its segment, so the items of a segment may lie anywhere. An item with a
// negative number belongs to no segment.
struct Segments {
    const Number* numbers;  // [num_items]
    unsigned* outside;      // [1], becomes 1 if a number is not below num_segments
    Index num_items;
    Index num_segments;
};

// Returns the number of an element's group, or -1 if it has none. Sets `is_outside` if its number is not
// negative and no group has it.
[[gnu::always_inline]] static inline Index group_of(const Segments& segments, Index index, bool& is_outside)
{
    const Number number = segments.numbers[index];
    //% if wide_index || number_bytes == 8
    const bool is_inside = u64(number) < u64(segments.num_segments);
    //% else
    const bool is_inside = unsigned(number) < unsigned(segments.num_segments);
    //% end
    //% if signed_numbers
    is_outside |= !is_inside && number >= 0;
    //% else
    is_outside |= !is_inside;
    //% end
    return is_inside ? Index(number) : Index(-1);
}

// Reports to the caller that an element has a number that no group has.
static inline void tell_outside(const Segments& segments, bool is_outside)
{
    if (is_outside)
        __atomic_store_n(segments.outside, 1u, __ATOMIC_RELAXED);
}
