//% piece Table
// A table whose reads are checked: a read outside of its length sets `outside` to 1 and gives zero.
struct @table@ {
    const @type@* at;
    i64 length;
    unsigned* outside;  // 1 after a read outside of the length
    i64 unused;
};

[[gnu::always_inline]] static inline @type@ gather(const @table@& table, i64 place)
{
    if (u64(place) < u64(table.length))
        return table.at[place];
    __atomic_store_n(table.outside, 1u, __ATOMIC_RELAXED);
    return @zero@;
}

//% piece least
// Returns the smaller number. A NaN operand loses, and -0 is less than 0.
[[gnu::always_inline]] static inline @type@ least_@name@(@type@ a, @type@ b)
{
    const @bits@ both = __builtin_bit_cast(@bits@, a) | __builtin_bit_cast(@bits@, b);
    return a == b ? __builtin_bit_cast(@type@, both) : b < a || a != a ? b : a;
}

//% piece greatest
// Returns the greater number. A NaN operand loses, and -0 is less than 0.
[[gnu::always_inline]] static inline @type@ greatest_@name@(@type@ a, @type@ b)
{
    const @bits@ both = __builtin_bit_cast(@bits@, a) & __builtin_bit_cast(@bits@, b);
    return a == b ? __builtin_bit_cast(@type@, both) : a < b || a != a ? b : a;
}

//% piece integer_least
[[gnu::always_inline]] static inline @type@ least_@name@(@type@ a, @type@ b)
{
    return b < a ? b : a;
}

//% piece integer_greatest
[[gnu::always_inline]] static inline @type@ greatest_@name@(@type@ a, @type@ b)
{
    return a < b ? b : a;
}

//% piece leading_zeros_u32
// Returns 32 for 0.
[[gnu::always_inline]] static inline int leading_zeros_u32(unsigned x)
{
    return x == 0 ? 32 : __builtin_clz(x);
}

//% piece leading_zeros_u64
// Returns 64 for 0.
[[gnu::always_inline]] static inline int leading_zeros_u64(u64 x)
{
    return x == 0 ? 64 : __builtin_clzll(x);
}

//% piece rsqrt_f32
[[gnu::always_inline]] static inline float rsqrt_f32(float x)
{
    return float(1.0 / __builtin_sqrt(double(x)));
}

//% piece rsqrt_f64
[[gnu::always_inline]] static inline double rsqrt_f64(double x)
{
    return 1.0 / __builtin_sqrt(x);
}

//% piece conversion
// Converts a number, rounding toward zero. A value beyond the type becomes the nearest end of the type; NaN
// becomes 0.
[[gnu::always_inline]] static inline @type@ @function@(float x)
{
    if (!(x > @least_float@))
        return x != x ? 0 : @lowest@;
//% each sign
    if (x > -1.0f && x < 1.0f)
        return 0;  // compilers turn float(int(x)) into trunc(x), which may be -0
//% end
    return x >= @end_float@ ? @highest@ : @type@(x);
}

[[gnu::always_inline]] static inline @type@ @function@(double x)
{
    if (!(x > @least_double@))
        return x != x ? 0 : @lowest@;
//% each sign
    if (x > -1.0 && x < 1.0)
        return 0;
//% end
    return x >= @end_double@ ? @highest@ : @type@(x);
}

//% piece f16
// A number of IEEE binary16, kept as its bits. Arithmetic is done in float and rounded back to nearest even.
struct f16 {
    unsigned short bits;
};

[[gnu::always_inline]] static inline float to_f32(f16 half)
{
    const unsigned magnitude = unsigned(half.bits & 0x7fffu) << 13;
    const unsigned sign = unsigned(half.bits & 0x8000u) << 16;
    // Moves the exponent to float's place; subnormal numbers become normal ones.
    const float scaled = __builtin_bit_cast(float, magnitude) * 0x1p112f;
    const unsigned finite = __builtin_bit_cast(unsigned, scaled);
    const unsigned bits = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : finite;
    return __builtin_bit_cast(float, bits | sign);
}

// Rounds to binary16. Overflow gives infinity, and NaN stays NaN.
[[gnu::always_inline]] static inline f16 to_f16(float value)
{
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    const unsigned magnitude = bits & 0x7fffffffu;
    // A subnormal result is rounded by an addition that leaves its bits in the lowest places.
    const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
    const unsigned small = __builtin_bit_cast(unsigned, shifted) - 0x3f000000u;
    const unsigned normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
    const unsigned finite = magnitude < 0x38800000u ? small : normal;
    const unsigned large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return {(unsigned short)((bits >> 16 & 0x8000u) | (magnitude >= 0x477ff000u ? large : finite))};
}

//% piece f16 of the machine
// A number of IEEE binary16, kept as its bits. Arithmetic is done in float and rounded back to nearest even.
struct f16 {
    unsigned short bits;
};

[[gnu::always_inline]] static inline float to_f32(f16 half)
{
    return float(__builtin_bit_cast(_Float16, half.bits));
}

[[gnu::always_inline]] static inline f16 to_f16(float value)
{
    return {__builtin_bit_cast(unsigned short, _Float16(value))};
}

//% piece bf16
// A bfloat16 number, kept as its bits. Arithmetic is done in float and rounded back to nearest even.
struct bf16 {
    unsigned short bits;
};

[[gnu::always_inline]] static inline float to_f32(bf16 half)
{
    return __builtin_bit_cast(float, unsigned(half.bits) << 16);
}

// Rounds to bfloat16. NaN stays NaN.
[[gnu::always_inline]] static inline bf16 to_bf16(float value)
{
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return {(unsigned short)((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded)};
}
