// Barriers, warp-wide functions, fences and small integer functions of CUDA.

extern "C" {
unsigned long long __segfold_meet(unsigned mask, unsigned kind, unsigned long long value, unsigned argument,
                                  const void* site);
void __segfold_fence(unsigned scope);
void __segfold_copy_async(unsigned to, const void* from);
void __segfold_copy_word_async(unsigned to, const void* from);
void __segfold_copy_double_async(unsigned to, const void* from);
void* __segfold_map_shared(const void* mine, unsigned rank);
void __segfold_wait_for_cluster();
void __segfold_commit_copies();
void __segfold_wait_for_copies(unsigned groups_left);
unsigned __segfold_load_acquire_32(const unsigned* address);
unsigned long long __segfold_load_acquire_64(const unsigned long long* address);
void __segfold_store_release_32(unsigned* address, unsigned value);
void __segfold_store_release_64(unsigned long long* address, unsigned long long value);
unsigned short __segfold_f32_to_f16(float value);
float __segfold_f16_to_f32(unsigned short bits);
unsigned short __segfold_f32_to_bf16(float value);
float __segfold_bf16_to_f32(unsigned short bits);
void __nanosleep(unsigned nanoseconds);
long long clock64();
void __trap();
void __segfold_syncthreads(unsigned statement);
int __segfold_syncthreads_or(int predicate, unsigned statement);
int __segfold_syncthreads_and(int predicate, unsigned statement);
int __segfold_syncthreads_count(int predicate, unsigned statement);
}

// Macros, because only a macro can give each call in the text its own number.
#define __syncthreads() __segfold_syncthreads(__COUNTER__)
#define __syncthreads_or(...) __segfold_syncthreads_or(__VA_ARGS__, __COUNTER__)
#define __syncthreads_and(...) __segfold_syncthreads_and(__VA_ARGS__, __COUNTER__)
#define __syncthreads_count(...) __segfold_syncthreads_count(__VA_ARGS__, __COUNTER__)
void __syncwarp(unsigned mask = 0xffffffffu);
unsigned __ballot_sync(unsigned mask, int predicate);
int __any_sync(unsigned mask, int predicate);
int __all_sync(unsigned mask, int predicate);
// The mask has only the calling lane, because no text may assume that other lanes are converged with it.
inline unsigned __activemask() { return 1u << __segfold_lane(); }
inline unsigned __lanemask_lt() { return (1u << __segfold_lane()) - 1u; }

inline size_t __cvta_generic_to_shared(const void* address) { return reinterpret_cast<size_t>(address); }
inline void __threadfence_block() { __segfold_fence(kSegfoldScopeBlock); }
inline void __threadfence() { __segfold_fence(kSegfoldScopeDevice); }
inline void __threadfence_system() { __segfold_fence(kSegfoldScopeDevice); }
inline long long clock() { return clock64(); }

inline unsigned __segfold_load_acquire(const unsigned* p) { return __segfold_load_acquire_32(p); }
inline unsigned long long __segfold_load_acquire(const unsigned long long* p)
{
    return __segfold_load_acquire_64(p);
}
inline void __segfold_store_release(unsigned* p, unsigned value) { __segfold_store_release_32(p, value); }
inline void __segfold_store_release(unsigned long long* p, unsigned long long value)
{
    __segfold_store_release_64(p, value);
}

template <class T>
inline T* __segfold_in_block(T* mine, unsigned rank)
{
    return static_cast<T*>(__segfold_map_shared(mine, rank));
}

#define __segfold_shuffles(type)                                                         \
    type __shfl_sync(unsigned mask, type value, int lane, int width = 32);               \
    type __shfl_up_sync(unsigned mask, type value, unsigned distance, int width = 32);   \
    type __shfl_down_sync(unsigned mask, type value, unsigned distance, int width = 32); \
    type __shfl_xor_sync(unsigned mask, type value, int lane_mask, int width = 32);      \
    unsigned __match_any_sync(unsigned mask, type value);                                \
    unsigned __match_all_sync(unsigned mask, type value, int* all_equal);
__segfold_shuffles(int)
__segfold_shuffles(unsigned)
__segfold_shuffles(long)
__segfold_shuffles(unsigned long)
__segfold_shuffles(long long)
__segfold_shuffles(unsigned long long)
__segfold_shuffles(float)
__segfold_shuffles(double)

unsigned __reduce_add_sync(unsigned mask, unsigned value);
int __reduce_add_sync(unsigned mask, int value);
unsigned __reduce_min_sync(unsigned mask, unsigned value);
int __reduce_min_sync(unsigned mask, int value);
unsigned __reduce_max_sync(unsigned mask, unsigned value);
int __reduce_max_sync(unsigned mask, int value);
unsigned __reduce_and_sync(unsigned mask, unsigned value);
unsigned __reduce_or_sync(unsigned mask, unsigned value);
unsigned __reduce_xor_sync(unsigned mask, unsigned value);

// Loads and stores with cache hints, which have no effect here.
#define __segfold_load(name)        \
    template <class T>              \
    inline T name(const T* address) \
    {                               \
        return *address;            \
    }
__segfold_load(__ldg)
__segfold_load(__ldca)
__segfold_load(__ldcs)
__segfold_load(__ldcg)
__segfold_load(__ldlu)
__segfold_load(__ldcv)
#define __segfold_store(name)             \
    template <class T>                    \
    inline void name(T* address, T value) \
    {                                     \
        *address = value;                 \
    }
__segfold_store(__stcs)
__segfold_store(__stcg)
__segfold_store(__stwb)
__segfold_store(__stwt)

// Adds the products of the bytes of two words to `sum`.
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum)
{
    for (int k = 0; k < 32; k += 8)
        sum += (a >> k & 255) * (b >> k & 255);
    return sum;
}
inline int __dp4a(int a, int b, int sum)
{
    auto total = static_cast<unsigned>(sum);
    for (int k = 0; k < 32; k += 8)
        total += static_cast<unsigned>(static_cast<signed char>(a >> k) * static_cast<signed char>(b >> k));
    return static_cast<int>(total);
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x)
{
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
