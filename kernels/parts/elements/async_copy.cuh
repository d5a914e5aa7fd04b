//% if async_copies
// Starts a copy of 16 bytes from global to shared memory that bypasses registers and the first-level cache.
// Both addresses must be multiples of 16. This thread may read the copy after wait_for_copies(), and other
// threads after a barrier that follows.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    const unsigned shared = unsigned(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared), "l"(from) : "memory");
}

// Starts a copy of 4 bytes from global to shared memory, through the first-level cache. Both addresses must
// be multiples of 4.
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
// Copies 16 bytes from global to shared memory. Both addresses must be multiples of 16.
__device__ __forceinline__ void copy_async(void* to, const void* from)
{
    *(uint4*)to = *(const uint4*)from;
}

// Copies 4 bytes from global to shared memory. Both addresses must be multiples of 4.
__device__ __forceinline__ void copy_word_async(void* to, const void* from)
{
    *(unsigned*)to = *(const unsigned*)from;
}

// Copies are not asynchronous here, so they are already complete.
__device__ __forceinline__ void wait_for_copies() {}
//% end
