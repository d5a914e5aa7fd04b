//% piece quotient
// @comment@
__device__ __forceinline__ @type@ @function@(@type@ x, @type@ y)
{
    if (y == 0)
        return @of_zero@;
//% each overflow
    if (y == -1)
        return @of_minus_one@;
//% end
    return @otherwise@;
}

//% piece divide_one
// 1 / y for a whole number y, the bits of any division. It does without a division's slow path: no whole
// number is so small or so great that one step of Newton's from the hardware's reciprocal would round
// otherwise.
__device__ __forceinline__ float divide_one(float y)
{
    float near;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(y));
    const float nearest = fmaf(fmaf(-y, near, 1.0f), near, near);
    return y == 0.0f ? near : nearest;
}

//% piece divide_whole
// x / y for whole numbers, the bits of any division: the quotient by the reciprocal, then what it left over
// divided too (Markstein 1990, Computation of elementary functions on the IBM RISC System/6000).
__device__ __forceinline__ float divide_whole(float x, float y)
{
    const float reciprocal = divide_one(y);
    const float near = x * reciprocal;
    const float nearest = fmaf(fmaf(-y, near, x), reciprocal, near);
    return y == 0.0f ? near : nearest;
}

//% piece absolute
// The lowest value has no positive twin and stays as it is.
__device__ __forceinline__ @type@ @function@(@type@ x)
{
    return x < 0 ? @negated@ : x;
}

//% piece opaque
// Its value; compilers do not see where it comes from, for they lose the wrap of some arithmetic.
__device__ __forceinline__ int opaque(int x)
{
    asm("" : "+r"(x));
    return x;
}

//% piece opaque_real
// Its value; NVRTC folds the least of 0 and -0 to either, and the greatest.
__device__ __forceinline__ @type@ @function@(@type@ x)
{
    auto bits = __builtin_bit_cast(@bits@, x);
    asm("" : "+@register@"(bits));
    return __builtin_bit_cast(@type@, bits);
}

//% piece conversion
// Toward zero; what does not fit becomes the nearest end of the type, NaN becomes 0.
__device__ __forceinline__ @type@ @function@(float x)
{
    if (!(x > @least_float@))
        return x != x ? 0 : @lowest@;
    return x >= @end_float@ ? @highest@ : @type@(x);
}

__device__ __forceinline__ @type@ @function@(double x)
{
    if (!(x > @least_double@))
        return x != x ? 0 : @lowest@;
    return x >= @end_double@ ? @highest@ : @type@(x);
}
