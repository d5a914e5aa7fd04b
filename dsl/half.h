#pragma once
// Conversions to the 16-bit floating-point formats, as bits. Usable in constant expressions.
#include <bit>
#include <cstdint>

namespace segfold {

/// Rounds to IEEE binary16, ties to even. Overflow gives infinity; NaN stays NaN.
constexpr std::uint16_t f32_to_f16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u)  // rounds to 65536 or more
        return static_cast<std::uint16_t>(sign | 0x7c00u);
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    if (exponent < -25)
        return static_cast<std::uint16_t>(sign);
    // Shifts the 24-bit significand to its place and rounds by the bits shifted out. A denormal is shifted
    // further.
    const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const int drop = exponent < -14 ? 13 + (-14 - exponent) : 13;
    const std::uint32_t kept = significand >> drop;
    const std::uint32_t rest = significand & ((1u << drop) - 1);
    const std::uint32_t half = 1u << (drop - 1);
    const std::uint32_t rounded = kept + (rest > half || (rest == half && (kept & 1u)) ? 1u : 0u);
    const std::uint32_t base = exponent < -14 ? 0u : static_cast<std::uint32_t>(exponent + 14) << 10;
    return static_cast<std::uint16_t>(sign | (base + rounded));
}

constexpr float f16_to_f32(std::uint16_t half)
{
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t exponent = half >> 10 & 0x1fu;
    const std::uint32_t fraction = half & 0x3ffu;
    if (exponent == 31)
        return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) {
        const float value = static_cast<float>(fraction) * 0x1p-24f;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
    }
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

/// Rounds to bfloat16, ties to even; NaN stays NaN.
constexpr std::uint16_t f32_to_bf16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

constexpr float bf16_to_f32(std::uint16_t half)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

}  // namespace segfold
