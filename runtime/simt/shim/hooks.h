// Defines the functions of CUDA that texts call. Each calls the executor. This file is compiled once and
// linked with every text.

// Not inlined, so that a call's return address lies in the text.
#define __segfold_support __attribute__((noinline, visibility("hidden")))

static SegfoldHooks __segfold_hooks;

extern "C" {
// A variable in the OS thread's copy of the shared memory. The copy's begin is found from the variable's
// address and from its offset in the symbol table.
thread_local char __segfold_anchor;
__attribute__((visibility("default"))) void* __segfold_anchor_address() { return &__segfold_anchor; }

__attribute__((visibility("default"))) void __segfold_connect(const SegfoldHooks* hooks)
{
    __segfold_hooks = *hooks;
}

__segfold_support unsigned __segfold_coordinate(unsigned which) { return __segfold_hooks.coordinate(which); }
__segfold_support unsigned __segfold_lane() { return __segfold_hooks.lane(); }
__segfold_support void __segfold_broken_assumption(const char* condition)
{
    __segfold_hooks.undefined(condition, nullptr, __segfold_site);
}
__segfold_support void __segfold_fence(unsigned scope) { __segfold_hooks.fence(scope); }
__segfold_support unsigned __segfold_load_acquire_32(const unsigned* address)
{
    __segfold_hooks.acquire_begin(address, sizeof *address, __segfold_site);
    const unsigned value = __atomic_load_n(address, __ATOMIC_ACQUIRE);
    __segfold_hooks.acquire_end(address);
    return value;
}
__segfold_support unsigned long long __segfold_load_acquire_64(const unsigned long long* address)
{
    __segfold_hooks.acquire_begin(address, sizeof *address, __segfold_site);
    const unsigned long long value = __atomic_load_n(address, __ATOMIC_ACQUIRE);
    __segfold_hooks.acquire_end(address);
    return value;
}
__segfold_support void __segfold_store_release_32(unsigned* address, unsigned value)
{
    __segfold_hooks.release(address, sizeof *address, __segfold_site);
    __atomic_store_n(address, value, __ATOMIC_RELEASE);
}
__segfold_support void __segfold_store_release_64(unsigned long long* address, unsigned long long value)
{
    __segfold_hooks.release(address, sizeof *address, __segfold_site);
    __atomic_store_n(address, value, __ATOMIC_RELEASE);
}
/// Returns the address of shared memory whose lower 32 bits are `to`. It lies near the anchor, in this OS
/// thread's copy.
inline void* __segfold_shared_address(unsigned to)
{
    const unsigned long anchor = reinterpret_cast<unsigned long>(&__segfold_anchor);
    const long distance = static_cast<int>(to - static_cast<unsigned>(anchor));
    return reinterpret_cast<void*>(anchor + static_cast<unsigned long>(distance));
}
__segfold_support void __segfold_copy_async(unsigned to, const void* from)
{
    __segfold_hooks.copy_async(__segfold_shared_address(to), from, 16, __segfold_site);
}
__segfold_support void __segfold_copy_word_async(unsigned to, const void* from)
{
    __segfold_hooks.copy_async(__segfold_shared_address(to), from, 4, __segfold_site);
}
__segfold_support void __segfold_copy_double_async(unsigned to, const void* from)
{
    __segfold_hooks.copy_async(__segfold_shared_address(to), from, 8, __segfold_site);
}
__segfold_support void* __segfold_map_shared(const void* mine, unsigned rank)
{
    return __segfold_hooks.in_block(mine, rank, __segfold_site);
}
__segfold_support void __segfold_wait_for_cluster()
{
    __segfold_hooks.barrier(kSegfoldBarrierCluster, 0, 0, __segfold_site);
}
__segfold_support void __segfold_commit_copies() { __segfold_hooks.commit_copies(); }
__segfold_support void __segfold_wait_for_copies(unsigned groups_left)
{
    __segfold_hooks.wait_for_copies(groups_left, __segfold_site);
}
__segfold_support unsigned short __segfold_f32_to_f16(float value)
{
    return __segfold_hooks.f32_to_f16(value);
}
__segfold_support float __segfold_f16_to_f32(unsigned short bits) { return __segfold_hooks.f16_to_f32(bits); }
__segfold_support unsigned short __segfold_f32_to_bf16(float value)
{
    return __segfold_hooks.f32_to_bf16(value);
}
__segfold_support float __segfold_bf16_to_f32(unsigned short bits)
{
    return __segfold_hooks.bf16_to_f32(bits);
}
__segfold_support void __nanosleep(unsigned) { __segfold_hooks.sleep(__segfold_site); }
__segfold_support long long clock64() { return static_cast<long long>(__segfold_hooks.clock()); }
__segfold_support void __trap() { __segfold_hooks.trap(__segfold_site); }
__segfold_support void __segfold_syncthreads(unsigned statement)
{
    __segfold_hooks.barrier(kSegfoldBarrier, 0, statement, __segfold_site);
}
#define __segfold_barrier_function(name, kind)                                                             \
    __segfold_support int name(int predicate, unsigned statement)                                          \
    {                                                                                                      \
        return static_cast<int>(__segfold_hooks.barrier(kind, predicate != 0, statement, __segfold_site)); \
    }
__segfold_barrier_function(__segfold_syncthreads_or, kSegfoldBarrierOr)
    __segfold_barrier_function(__segfold_syncthreads_and, kSegfoldBarrierAnd)
        __segfold_barrier_function(__segfold_syncthreads_count, kSegfoldBarrierCount)
}

__segfold_support void __syncwarp(unsigned mask)
{
    __segfold_hooks.meet(mask, kSegfoldSyncwarp, 0, 0, __segfold_site);
}

#define __segfold_vote(result, name, kind)                                                               \
    __segfold_support result name(unsigned mask, int predicate)                                          \
    {                                                                                                    \
        return static_cast<result>(__segfold_hooks.meet(mask, kind, predicate != 0, 0, __segfold_site)); \
    }
__segfold_vote(unsigned, __ballot_sync, kSegfoldBallot) __segfold_vote(int, __any_sync, kSegfoldAny)
    __segfold_vote(int, __all_sync, kSegfoldAll)

#define __segfold_reduction(type, name, kind)                                                   \
    __segfold_support type name(unsigned mask, type value)                                      \
    {                                                                                           \
        return static_cast<type>(                                                               \
            __segfold_hooks.meet(mask, kind, static_cast<unsigned>(value), 0, __segfold_site)); \
    }
        __segfold_reduction(unsigned, __reduce_add_sync, kSegfoldReduceAdd)
            __segfold_reduction(int, __reduce_add_sync, kSegfoldReduceAdd)
                __segfold_reduction(unsigned, __reduce_min_sync, kSegfoldReduceMinUnsigned)
                    __segfold_reduction(int, __reduce_min_sync, kSegfoldReduceMinSigned)
                        __segfold_reduction(unsigned, __reduce_max_sync, kSegfoldReduceMaxUnsigned)
                            __segfold_reduction(int, __reduce_max_sync, kSegfoldReduceMaxSigned)
                                __segfold_reduction(unsigned, __reduce_and_sync, kSegfoldReduceAnd)
                                    __segfold_reduction(unsigned, __reduce_or_sync, kSegfoldReduceOr)
                                        __segfold_reduction(unsigned, __reduce_xor_sync, kSegfoldReduceXor)

                                            template <class T>
                                            struct __segfold_bits;
template <>
struct __segfold_bits<char[4]> {
    typedef unsigned Unsigned;
};
template <>
struct __segfold_bits<char[8]> {
    typedef unsigned long long Unsigned;
};

#define __segfold_shuffle(type, name, parameter, kind)                                                       \
    __segfold_support type name(unsigned mask, type value, parameter place, int width)                       \
    {                                                                                                        \
        typedef __segfold_bits<char[sizeof(type)]>::Unsigned Bits;                                           \
        const unsigned argument = (static_cast<unsigned>(place) & 255u) | static_cast<unsigned>(width) << 8; \
        const unsigned long long bits =                                                                      \
            __segfold_hooks.meet(mask, kind, __builtin_bit_cast(Bits, value), argument, __segfold_site);     \
        return __builtin_bit_cast(type, static_cast<Bits>(bits));                                            \
    }
#define __segfold_shuffles_of(type)                                                                          \
    __segfold_shuffle(type, __shfl_sync, int, kSegfoldShuffle)                                               \
        __segfold_shuffle(type, __shfl_up_sync, unsigned, kSegfoldShuffleUp)                                 \
            __segfold_shuffle(type, __shfl_down_sync, unsigned, kSegfoldShuffleDown)                         \
                __segfold_shuffle(type, __shfl_xor_sync, int, kSegfoldShuffleXor) __segfold_support unsigned \
                __match_any_sync(unsigned mask, type value)                                                  \
    {                                                                                                        \
        typedef __segfold_bits<char[sizeof(type)]>::Unsigned Bits;                                           \
        return static_cast<unsigned>(__segfold_hooks.meet(                                                   \
            mask, kSegfoldMatchAny, __builtin_bit_cast(Bits, value), 0, __segfold_site));                    \
    }                                                                                                        \
    __segfold_support unsigned __match_all_sync(unsigned mask, type value, int* all_equal)                   \
    {                                                                                                        \
        typedef __segfold_bits<char[sizeof(type)]>::Unsigned Bits;                                           \
        const unsigned lanes = static_cast<unsigned>(__segfold_hooks.meet(                                   \
            mask, kSegfoldMatchAll, __builtin_bit_cast(Bits, value), 0, __segfold_site));                    \
        *all_equal = lanes != 0;                                                                             \
        return lanes;                                                                                        \
    }
__segfold_shuffles_of(int) __segfold_shuffles_of(unsigned) __segfold_shuffles_of(long)
    __segfold_shuffles_of(unsigned long) __segfold_shuffles_of(long long)
        __segfold_shuffles_of(unsigned long long) __segfold_shuffles_of(float) __segfold_shuffles_of(double)

    // Replaces *address by update(*address) and returns the old value. Floats are compared by their bits.
    template <class T, class Update>
    inline T __segfold_atomic(T* address, const void* site, Update update)
{
    __segfold_hooks.atomic_begin(address, sizeof(T), site);
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    T desired = update(old);
    while (!__atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        desired = update(old);
    __segfold_hooks.atomic_end(address, __builtin_memcmp(&old, &desired, sizeof(T)) != 0);
    return old;
}
#define __segfold_define_atomic_as(name, type, result)                                              \
    __segfold_support type name(type* address, type value)                                          \
    {                                                                                               \
        return __segfold_atomic(address, __segfold_site, [=](type old) -> type { return result; }); \
    }
#define __segfold_define_atomic(name, type, result)                                                       \
    __segfold_define_atomic_as(name, type, result) __segfold_define_atomic_as(name##_block, type, result) \
        __segfold_define_atomic_as(name##_system, type, result)
__segfold_atomics(__segfold_define_atomic)

#define __segfold_define_exchange(type)                                                          \
    __segfold_support type atomicCAS(type* address, type compare, type value)                    \
    {                                                                                            \
        return __segfold_atomic(address, __segfold_site,                                         \
                                [=](type old) -> type { return old == compare ? value : old; }); \
    }
__segfold_define_exchange(int) __segfold_define_exchange(unsigned)
    __segfold_define_exchange(unsigned long long) __segfold_define_exchange(unsigned short)
