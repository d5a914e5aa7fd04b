//% piece Table
// A table whose reads are checked: a read outside of its length is reported through `outside` and gives zero.
struct @table@ {
    const @type@* at;
    i64 length;
    unsigned* outside;        // becomes 1 after a read outside of the length
    mutable bool is_outside;  // true if this thread has read outside of the length
};

__device__ __forceinline__ @type@ gather(const @table@& table, i64 place)
{
    const bool is_inside = u64(place) < u64(table.length);
    table.is_outside |= !is_inside;
    return is_inside ? table.at[place] : @zero@;
}

//% piece OutsideReads
// When a thread leaves the kernel, reports the tables that it has read outside of their lengths.
struct OutsideReads {
    const Inputs& inputs;

    __device__ __forceinline__ ~OutsideReads()
    {
//% each table
        if (inputs.@name@.is_outside)
            atomicOr(inputs.@name@.outside, 1u);
//% end
    }
};
