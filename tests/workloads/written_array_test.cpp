// Arrays written out where a file could be named, and the memory of arrays.
#include "runtime/data/formats/written_array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "runtime/data/formats/npz.h"
#include "tests/common/files.h"

namespace segfold::written_array_test {
namespace {

TEST(WrittenArrayTest, HoldsWhatIsWritten)
{
    EXPECT_EQ(to_vector<std::int32_t>(read_array_as("[1, -2,3 x 2]", Type::i32)),
              (std::vector<std::int32_t>{1, -2, 3, 3}));
    EXPECT_EQ(to_vector<std::uint64_t>(read_array_as("[18446744073709551615]", Type::u64)),
              std::vector<std::uint64_t>{18446744073709551615U});
    EXPECT_EQ(read_array_as("[]", Type::f32).length(), 0U);
    EXPECT_EQ(to_vector<bool>(read_array_as("[true, 0]", Type::boolean)), (std::vector<bool>{true, false}));
    const auto floats = to_vector<float>(read_array_as("[0.1, -inf, nan, -0.0, 1e-45]", Type::f32));
    EXPECT_EQ(floats[0], 0.1F);
    EXPECT_EQ(floats[1], -INFINITY);
    EXPECT_TRUE(std::isnan(floats[2]));
    EXPECT_TRUE(std::signbit(floats[3]));
    EXPECT_GT(floats[4], 0);
    EXPECT_EQ(to_vector<std::uint16_t>(read_array_as("[1.5]", Type::f16)),
              std::vector<std::uint16_t>{0x3e00});
    EXPECT_EQ(to_vector<std::uint16_t>(read_array_as("[1.5]", Type::bf16)),
              std::vector<std::uint16_t>{0x3fc0});
    EXPECT_EQ(read_array("[1, 2]").type(), Type::i64);
    EXPECT_EQ(read_array("[1, 2.5]").type(), Type::f64);
    EXPECT_EQ(to_vector<bool>(read_array("[true, false x 2, 1]")),
              (std::vector<bool>{true, false, false, true}));
}

TEST(WrittenArrayTest, IntegersArePowersOrHaveExponentsToo)
{
    EXPECT_EQ(to_vector<std::int32_t>(read_array_as("[1e3, 2^3, -2.5e1, 7 x 2^1]", Type::i32)),
              (std::vector<std::int32_t>{1000, 8, -25, 7, 7}));
    EXPECT_EQ(to_vector<std::uint64_t>(read_array_as("[2^63, 1e19]", Type::u64)),
              (std::vector<std::uint64_t>{std::uint64_t{1} << 63, 10000000000000000000U}));
    EXPECT_EQ(to_vector<float>(read_array_as("[1e3, 2^3, 1e-1]", Type::f32)),
              (std::vector<float>{1000, 8, 0.1F}));
    EXPECT_EQ(to_vector<std::int64_t>(read_array("[0, 1e1, 2^4]")), (std::vector<std::int64_t>{0, 10, 16}));
    EXPECT_EQ(to_vector<double>(read_array("[2^3, 0.5]")), (std::vector<double>{8, 0.5}));
}

TEST(WrittenArrayTest, IntegersBeyond64BitsAreCalledSo)
{
    EXPECT_EQ(to_vector<std::uint64_t>(read_array("[1, 18446744073709551615]")),
              (std::vector<std::uint64_t>{1, 18446744073709551615U}));
    for (const std::string number : {"18446744073709551616", "-9223372036854775809", "2^64"}) {
        const auto message = "'[0, " + number + "]': '" + number + "' is beyond 64 bits";
        const auto text = "[0, " + number + "]";
        EXPECT_EQ(refusal([&] { (void)read_array(text); }), message);
        EXPECT_EQ(refusal([&] { (void)read_array_as(text, Type::i64); }), message);
        EXPECT_EQ(refusal([&] { (void)read_array_as(text, Type::u8); }), message);
    }
    EXPECT_EQ(refusal([] { (void)read_array("[-1, 9223372036854775808]"); }),
              "'[-1, 9223372036854775808]': '-1' is no value of type u64, which holds 0 to "
              "18446744073709551615");
    EXPECT_EQ(to_vector<float>(read_array_as("[18446744073709551616]", Type::f32)),
              std::vector<float>{18446744073709551616.0F});
}

TEST(WrittenArrayTest, WritesWhatItReads)
{
    const auto text = written_array({"1", "1", "2", "2", "2", "nan"});
    EXPECT_EQ(text, "[1, 1, 2 x 3, nan]");
    EXPECT_EQ(read_written_array(text, Type::f64).length(), 6U);
    EXPECT_EQ(written_array({}), "[]");
}

TEST(WrittenArrayTest, RefusesWhatIsNone)
{
    const auto refused = [](const std::string& text, Type type) {
        return refusal([&] { (void)read_array_as(text, type); });
    };
    const std::string ways = "; write [1, 2, 3], or [0 x 32, 1] with 32 zeros";
    EXPECT_EQ(refused("[1, 2", Type::i32), "'[1, 2': the closing bracket is missing" + ways);
    EXPECT_EQ(refused("[1,, 2]", Type::i32), "'[1,, 2]': a value is missing" + ways);
    EXPECT_EQ(refused("[1.5e0]", Type::i32), "'[1.5e0]': '1.5e0' is no value of type i32" + ways);
    EXPECT_EQ(refused("[2^-1]", Type::f32), "'[2^-1]': '2^-1' is no value of type f32" + ways);
    EXPECT_EQ(refused("[1.5]", Type::i32), "'[1.5]': '1.5' is no value of type i32" + ways);
    EXPECT_EQ(refused("[1 x two]", Type::i32), "'[1 x two]': 'two' is no count from 0 to 1048576" + ways);
}

/// How an array is written does not help whoever has written it right.
TEST(WrittenArrayTest, SaysWhatATypeHolds)
{
    const auto refused = [](const std::string& text, Type type) {
        return refusal([&] { (void)read_array_as(text, type); });
    };
    EXPECT_EQ(refused("[1, 300]", Type::i8),
              "'[1, 300]': '300' is no value of type i8, which holds -128 to 127");
    EXPECT_EQ(refused("[-1]", Type::u8), "'[-1]': '-1' is no value of type u8, which holds 0 to 255");
    EXPECT_EQ(refused("[2^40]", Type::i32),
              "'[2^40]': '2^40' is no value of type i32, which holds -2147483648 to 2147483647");
    EXPECT_EQ(
        refused("[0, 1e39]", Type::f32),
        "'[0, 1e39]': '1e39' is beyond the numbers of type f32, which holds -3.4028235e+38 to 3.4028235e+38");
    EXPECT_EQ(refused("[1e309]", Type::f64),
              "'[1e309]': '1e309' is beyond the numbers of type f64, which holds -1.7976931348623157e+308 to "
              "1.7976931348623157e+308");
    EXPECT_EQ(refused("[65504, 65520]", Type::f16),
              "'[65504, 65520]': '65520' is beyond the numbers of type f16, which holds -65504 to 65504");
    EXPECT_EQ(refused("[-3.4e38]", Type::bf16),
              "'[-3.4e38]': '-3.4e38' is beyond the numbers of type bf16, which holds -3.3895314e+38 to "
              "3.3895314e+38");
    EXPECT_EQ(read_written_array("[inf, 65519]", Type::f16).length(), 2U);
    EXPECT_EQ(to_vector<float>(read_written_array("[1e-50, -1e-400]", Type::f32)),
              (std::vector<float>{0, -0.0F}));
    EXPECT_EQ(to_vector<double>(read_array("[1e-400, 5e-324]")), (std::vector<double>{0, 5e-324}));
    EXPECT_EQ(refusal([] { (void)read_array("[true, 2]"); }),
              "'[true, 2]': '2' is no value of type bool, which holds false and true, or 0 and 1");
    EXPECT_EQ(refused("[1 x -1]", Type::i32), "'[1 x -1]': '-1' is no count from 0 to 1048576");
    EXPECT_EQ(refused("[1 x 2^40]", Type::i32), "'[1 x 2^40]': '2^40' is no count from 0 to 1048576");
    EXPECT_EQ(refused("[1 x 1048576, 2]", Type::i32),
              "'[1 x 1048576, 2]': there are more than 1048576 values; longer arrays belong in a file");
}

/// Kilobytes of this process on large pages; nothing where the system does not say, or gives none.
std::optional<long> kilobytes_on_large_pages()
{
    std::ifstream enabled("/sys/kernel/mm/transparent_hugepage/enabled"), rollup("/proc/self/smaps_rollup");
    std::string modes;
    if (!std::getline(enabled, modes) || modes.find("[never]") != std::string::npos)
        return std::nullopt;
    for (std::string word; rollup >> word;)
        if (long kilobytes = 0; word == "AnonHugePages:" && rollup >> kilobytes)
            return kilobytes;
    return std::nullopt;
}

TEST(ArrayTest, ANumberOfNoTypeIsRefused)
{
    static_assert(size_bytes(Type::bf16) == 2 && size_bytes(Type::f64) == 8);
    for (const int number : {13, 77, 255}) {
        const auto none = static_cast<Type>(number);
        const auto refused = "an array or a value has the type of number " + std::to_string(number) +
                             ", which is none; the types are 0 to 12: bool, i8, i16, i32, i64, u8, u16, u32, "
                             "u64, f16, bf16, f32, f64";
        EXPECT_EQ(refusal([&] { (void)size_bytes(none); }), refused);
        EXPECT_EQ(refusal([&] { (void)name(none); }), refused);
        EXPECT_EQ(refusal([&] { (void)Array(none, 3); }), refused);
        EXPECT_EQ(refusal([&] { (void)Array::borrow(none, &number, 1).bytes(); }), refused);
    }
}

TEST(ArrayTest, WhatWasMovedFromHoldsNothing)
{
    auto array = read_array_as("[1, 2, 3]", Type::i32);
    auto other = std::move(array);
    // NOLINTBEGIN(bugprone-use-after-move): what this test is about
    EXPECT_EQ(array.length(), 0U);
    EXPECT_TRUE(array.as<std::int32_t>().empty());
    EXPECT_EQ(array.data(), nullptr);
    array = std::move(other);
    EXPECT_EQ(other.bytes(), 0U);
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_EQ(to_vector<std::int32_t>(array), (std::vector<std::int32_t>{1, 2, 3}));
}

TEST(ArrayTest, LargeOnesLieOnLargePages)
{
    const auto before = kilobytes_on_large_pages();
    if (!before)
        GTEST_SKIP() << "this system gives no large pages, or does not say so";
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    Array array(Type::u8, kBytes);
    std::memset(array.data(), 1, kBytes);
    const auto gained = kilobytes_on_large_pages().value_or(0) - *before;
    if (gained == 0)
        GTEST_SKIP() << "no large page is free";
    EXPECT_LE(gained, static_cast<long>(kBytes >> 10));
    EXPECT_GT(gained, 32 << 10);
    EXPECT_EQ(array.as<std::uint8_t>().back(), 1);
}

}  // namespace
}  // namespace segfold::written_array_test
