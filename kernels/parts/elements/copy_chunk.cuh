//% use parts/elements/async_copy.cuh
//% if async_copies
// Starts a copy of `bytes` bytes from global to shared memory. `bytes` is a constant: 4, 8 or 16. Both
// addresses must be multiples of it.
__device__ __forceinline__ void copy_chunk_async(void* to, const void* from, int bytes)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    if (bytes == 16)
        copy_async(to, from);
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(shared), "l"(from) : "memory");
    else
        copy_word_async(to, from);
}
//% else
// Copies `bytes` bytes from global to shared memory. `bytes` is a constant: 4, 8 or 16. Both addresses must
// be multiples of it.
__device__ __forceinline__ void copy_chunk_async(void* to, const void* from, int bytes)
{
    if (bytes == 16)
        copy_async(to, from);
    else if (bytes == 8)
        *(uint2*)to = *(const uint2*)from;
    else
        copy_word_async(to, from);
}
//% end
