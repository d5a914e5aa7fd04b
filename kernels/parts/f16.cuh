// A number of IEEE binary16, kept as its bits. Arithmetic is done in float and rounded back to nearest even.
struct f16 {
    unsigned short bits;
};

__device__ __forceinline__ float to_f32(f16 half)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half.bits));
    return value;
}

// Rounds to binary16. Overflow gives infinity, and NaN stays NaN.
__device__ __forceinline__ f16 to_f16(float value)
{
    f16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
    return half;
}
