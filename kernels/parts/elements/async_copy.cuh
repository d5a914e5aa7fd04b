//% if async_copies
// Starts a copy of 16 bytes from global to shared memory, past registers and the first-level cache. Both
// addresses are multiples of 16. What the copy brings may be read after a wait, by other lanes after a
// synchronisation behind it.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared), "l"(from) : "memory");
}

// The same of 4 bytes, through the first-level cache; both addresses are multiples of 4.
__device__ __forceinline__ void copy_word_async(void* to, const void* from)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(shared), "l"(from) : "memory");
}

// Waits for all copies of this thread.
__device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" : : : "memory");
}
//% else
// Copies 16 bytes from global to shared memory; both addresses are multiples of 16.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    *(uint4*)to = *(const uint4*)from;
}

// The same of 4 bytes; both addresses are multiples of 4.
__device__ __forceinline__ void copy_word_async(void* to, const void* from)
{
    *(unsigned*)to = *(const unsigned*)from;
}

// Without asynchronous copies, what has been started is over.
__device__ __forceinline__ void wait_for_copies() {}
//% end
