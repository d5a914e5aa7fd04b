// CUDA's additions to the language, for an ordinary C++20 compiler: qualifiers, built-in variables, vector
// types. They stand before every emitted text, so that the text itself need not change.

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_assume(condition) ((condition) ? (void)0 : __segfold_broken_assumption(#condition))
// A block stays on one OS thread, which has one copy of these variables. The executor swaps the copy's
// content when the OS thread goes to another block.
#define __shared__ static thread_local

#define __segfold_site __builtin_return_address(0)
#if defined(__clang__)
#define __segfold_quiet __attribute__((no_sanitize("thread", "undefined")))
#else
#define __segfold_quiet __attribute__((no_sanitize_thread, no_sanitize_undefined))
#endif

extern "C" {
__attribute__((const)) unsigned __segfold_coordinate(unsigned which);
__attribute__((const)) unsigned __segfold_lane();
void __segfold_broken_assumption(const char* condition);
}

typedef unsigned long size_t;

#define __segfold_vector_type(name, scalar, bytes)                                    \
    struct alignas(sizeof(scalar)) name##1 { scalar x; };                             \
    struct alignas(2 * sizeof(scalar)) name##2 { scalar x, y; };                      \
    struct name##3 { scalar x, y, z; };                                               \
    struct alignas(bytes) name##4 { scalar x, y, z, w; };                             \
    inline name##1 make_##name##1(scalar x) { return {x}; }                           \
    inline name##2 make_##name##2(scalar x, scalar y) { return {x, y}; }              \
    inline name##3 make_##name##3(scalar x, scalar y, scalar z) { return {x, y, z}; } \
    inline name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) { return {x, y, z, w}; }
__segfold_vector_type(char, signed char, 4) __segfold_vector_type(uchar, unsigned char, 4)
    __segfold_vector_type(short, short, 8) __segfold_vector_type(ushort, unsigned short, 8)
        __segfold_vector_type(int, int, 16) __segfold_vector_type(uint, unsigned, 16)
            __segfold_vector_type(long, long, 16) __segfold_vector_type(ulong, unsigned long, 16)
                __segfold_vector_type(longlong, long long, 16)
                    __segfold_vector_type(ulonglong, unsigned long long, 16)
                        __segfold_vector_type(float, float, 16) __segfold_vector_type(double, double, 16)

                            struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

// The compiler may merge or drop these calls, because a thread's coordinates never change.
inline __attribute__((always_inline)) uint3 __segfold_coordinates(unsigned first)
{
    return {__segfold_coordinate(first), __segfold_coordinate(first + 1), __segfold_coordinate(first + 2)};
}
#define threadIdx (__segfold_coordinates(kSegfoldThread))
#define blockIdx (__segfold_coordinates(kSegfoldBlock))
#define blockDim (__segfold_coordinates(kSegfoldBlockDimension))
#define gridDim (__segfold_coordinates(kSegfoldGridDimension))
constexpr int warpSize = 32;
