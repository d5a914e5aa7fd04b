// Each item has the number of its segment, in any order; a negative one is in none.
struct Segments {
    const Number* numbers;  // [num_items]
    unsigned* outside;      // [1], becomes 1 if a number is not below num_segments
    Index num_items;
    Index num_segments;
};

// The number of an element's group, or -1 if it has none. A number that no group has is noted in
// `is_outside`.
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

// Tells the caller of a number that no group has.
static inline void tell_outside(const Segments& segments, bool is_outside)
{
    if (is_outside)
        __atomic_store_n(segments.outside, 1u, __ATOMIC_RELAXED);
}
