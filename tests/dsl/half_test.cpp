// Compares the 16-bit formats with the compiler's own, bit by bit.
#include "dsl/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace segfold::half_test {
namespace {

std::uint16_t bits_of(_Float16 value)
{
    std::uint16_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

_Float16 from_bits(std::uint16_t bits)
{
    _Float16 value;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

/// Rounds to bfloat16 by comparing with both neighbours. It shares only the rule for ties with the tested
/// code.
std::uint16_t nearest_bf16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto below = static_cast<std::uint16_t>(bits >> 16);  // toward zero
    const auto above = static_cast<std::uint16_t>(below + 1);
    const double low = std::bit_cast<float>(static_cast<std::uint32_t>(below) << 16);
    // Above the largest number, the next one would be 2^128.
    const double high = (above & 0x7fffu) == 0x7f80u
                            ? std::copysign(0x1p128, low)
                            : std::bit_cast<float>(static_cast<std::uint32_t>(above) << 16);
    const double to_low = std::fabs(value - low);
    const double to_high = std::fabs(high - value);
    return to_low < to_high || (to_low == to_high && below % 2 == 0) ? below : above;
}

void expect_rounds_as_the_compiler(float value)
{
    const auto ours = f32_to_f16(value);
    if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(f16_to_f32(ours)));
        ASSERT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(value))));
        return;
    }
    ASSERT_EQ(ours, bits_of(static_cast<_Float16>(value))) << std::hexfloat << value;
    if (std::isfinite(value)) {
        ASSERT_EQ(f32_to_bf16(value), nearest_bf16(value)) << std::hexfloat << value;
    }
}

TEST(Half, EveryF16WidensAsTheCompilerSays)
{
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
        const auto half = static_cast<std::uint16_t>(i);
        const auto expected = static_cast<float>(from_bits(half));
        const float ours = f16_to_f32(half);
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(ours)) << i;
            ASSERT_EQ(std::signbit(ours), std::signbit(expected)) << i;
        } else {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(ours), std::bit_cast<std::uint32_t>(expected)) << i;
            ASSERT_EQ(f32_to_f16(ours), half) << i;
        }
    }
}

TEST(Half, EveryBf16SurvivesTheWayThroughF32)
{
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
        const auto half = static_cast<std::uint16_t>(i);
        const float wide = bf16_to_f32(half);
        if (std::isnan(wide))
            ASSERT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(wide)))) << i;
        else
            ASSERT_EQ(f32_to_bf16(wide), half) << i;
    }
}

TEST(Half, HalfwayCasesOfF16GoToEven)
{
    for (std::uint32_t i = 0; i < 0x7c00; ++i) {
        const double low = f16_to_f32(static_cast<std::uint16_t>(i));
        const double high = i + 1 == 0x7c00 ? 65536.0 : f16_to_f32(static_cast<std::uint16_t>(i + 1));
        const auto middle = static_cast<float>((low + high) / 2);
        for (const float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e30f)})
            for (const float sign : {1.0f, -1.0f})
                expect_rounds_as_the_compiler(sign * value);
        ASSERT_EQ(f32_to_f16(middle) % 2, 0) << i;
    }
}

TEST(Half, HalfwayCasesOfBf16GoToEven)
{
    for (std::uint32_t i = 0; i < 0x7f80; ++i) {
        const auto middle = std::bit_cast<float>(i << 16 | 0x8000u);
        for (const std::uint32_t step : {0u, 1u, ~0u})
            for (const std::uint32_t sign : {0u, 0x80000000u})
                expect_rounds_as_the_compiler(
                    std::bit_cast<float>((std::bit_cast<std::uint32_t>(middle) + step) | sign));
        ASSERT_EQ(f32_to_bf16(middle) % 2, 0) << i;
    }
}

TEST(Half, RandomFloatsRoundAsTheCompilerSays)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<float> exponent(-30.0f, 20.0f);
    for (int i = 0; i < 500000; ++i) {
        expect_rounds_as_the_compiler(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
        expect_rounds_as_the_compiler(std::exp2(exponent(random)));
    }
}

TEST(Half, Ends)
{
    EXPECT_EQ(f32_to_f16(65504.0f), 0x7bff);
    EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
    EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
    EXPECT_EQ(f32_to_f16(-INFINITY), 0xfc00);
    EXPECT_EQ(f32_to_f16(0x1p-24f), 0x0001);
    EXPECT_EQ(f32_to_f16(0x1p-25f), 0x0000);
    EXPECT_EQ(f32_to_f16(0x1.8p-25f), 0x0001);
    EXPECT_EQ(f32_to_f16(-0.0f), 0x8000);
    EXPECT_EQ(f32_to_bf16(INFINITY), 0x7f80);
    EXPECT_EQ(f32_to_bf16(3.4028235e38f), 0x7f80);
    EXPECT_EQ(f32_to_bf16(-0.0f), 0x8000);
    // A NaN whose payload lies in the dropped bits must not become infinity.
    EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7f800001u)))));
    EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::bit_cast<float>(0xff800001u)))));
    static_assert(f16_to_f32(f32_to_f16(0.333f)) == 0.3330078125f &&
                  bf16_to_f32(f32_to_bf16(0.333f)) == 0.33203125f);
}

}  // namespace
}  // namespace segfold::half_test
