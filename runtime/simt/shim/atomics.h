// CUDA's atomic functions. Each is one indivisible operation on the host too, so blocks may run on several
// cores.

extern "C" {
void __segfold_atomic_begin(const void* address, unsigned long bytes, const void* site);
void __segfold_atomic_end(const void* address, unsigned changed);
}

// Replaces *address by update(*address) and returns what was there. Floats are compared by their bits.
template <class T, class Update>
__attribute__((noinline)) __segfold_quiet T __segfold_atomic(T* address, Update update)
{
    __segfold_atomic_begin(address, sizeof(T), __segfold_site);
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    T desired = update(old);
    while (!__atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        desired = update(old);
    __segfold_atomic_end(address, __builtin_memcmp(&old, &desired, sizeof(T)) != 0);
    return old;
}

#define __segfold_atomic_function(name, type, result)                                               \
    __forceinline__ type name(type* address, type value)                                            \
    {                                                                                               \
        return __segfold_atomic(address, [=](type old) __segfold_quiet -> type { return result; }); \
    }                                                                                               \
    __forceinline__ type name##_block(type* address, type value) { return name(address, value); }   \
    __forceinline__ type name##_system(type* address, type value) { return name(address, value); }

#define __segfold_atomic_integer(type)                                                                \
    __segfold_atomic_function(atomicExch, type, (static_cast<void>(old), value))                      \
        __segfold_atomic_function(atomicMin, type, old < value ? old : value)                         \
            __segfold_atomic_function(atomicMax, type, old < value ? value : old)                     \
                __segfold_atomic_function(atomicAnd, type, old& value)                                \
                    __segfold_atomic_function(atomicOr, type, old | value)                            \
                        __segfold_atomic_function(atomicXor, type, old ^ value) __forceinline__ type  \
                        atomicCAS(type* address, type compare, type value)                            \
    {                                                                                                 \
        return __segfold_atomic(                                                                      \
            address, [=](type old) __segfold_quiet -> type { return old == compare ? value : old; }); \
    }
__segfold_atomic_integer(int) __segfold_atomic_integer(unsigned) __segfold_atomic_integer(
    unsigned long long) __segfold_atomic_function(atomicMin, long long, old < value ? old : value)
    __segfold_atomic_function(atomicMax, long long, old < value ? value : old) __segfold_atomic_function(
        atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
        __segfold_atomic_function(atomicSub, int,
                                  static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
            __segfold_atomic_function(atomicAdd, unsigned,
                                      old + value) __segfold_atomic_function(atomicSub, unsigned, old - value)
                __segfold_atomic_function(atomicInc, unsigned, old >= value ? 0u : old + 1)
                    __segfold_atomic_function(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
                        __segfold_atomic_function(atomicAdd, unsigned long long, old + value)
                            __segfold_atomic_function(atomicAdd, float, old + value)
                                __segfold_atomic_function(atomicAdd, double, old + value)
                                    __segfold_atomic_function(atomicExch, float,
                                                              (static_cast<void>(old), value)) __forceinline__
    unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short value)
{
    return __segfold_atomic(address, [=](unsigned short old) __segfold_quiet -> unsigned short {
        return old == compare ? value : old;
    });
}
