// A bfloat16 number, kept as its bits. Arithmetic is done in float and rounded back to nearest even.
struct bf16 {
    unsigned short bits;
};

__device__ __forceinline__ float to_f32(bf16 half)
{
    return __uint_as_float(unsigned(half.bits) << 16);
}

// Rounds to bfloat16. NaN stays NaN.
__device__ __forceinline__ bf16 to_bf16(float value)
{
    //% if bf16_conversions
    bf16 half;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
    return half;
    //% else
    const unsigned bits = __float_as_uint(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return {(unsigned short)(bits >> 16 | 0x40u)};
    return {(unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
    //% end
}
