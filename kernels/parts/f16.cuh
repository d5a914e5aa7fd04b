// IEEE binary16, by its bits; arithmetic happens in float and is rounded back.
struct f16 {
    unsigned short bits;
};

__device__ __forceinline__ float to_f32(f16 half)
{
    // The float with the same exponent and fraction bits is 2^112 too small; denormals come out right as
    // well.
    const unsigned magnitude = unsigned(half.bits & 0x7fff) << 13;
    const unsigned sign = unsigned(half.bits & 0x8000) << 16;
    if (magnitude >= 0x0f800000u)
        return __uint_as_float(sign | magnitude | 0x7f800000u);
    return __uint_as_float(sign | __float_as_uint(__uint_as_float(magnitude) * 5.192296858534828e+33f));
}

// Rounds to nearest even; overflow gives infinity, NaN stays NaN.
__device__ __forceinline__ f16 to_f16(float value)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned sign = bits >> 16 & 0x8000u;
    const unsigned magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return {(unsigned short)(sign | 0x7e00u)};
    if (magnitude >= 0x477ff000u)
        return {(unsigned short)(sign | 0x7c00u)};
    if (magnitude < 0x38800000u) {
        // Below the least normal number: adding 0.5 lines the bits up, and the addition rounds.
        const unsigned lined_up = __float_as_uint(__uint_as_float(magnitude) + 0.5f);
        return {(unsigned short)(sign | (lined_up - 0x3f000000u))};
    }
    const unsigned rounded = magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u);
    return {(unsigned short)(sign | rounded >> 13)};
}
