#include "runtime/data/segments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/common/files.h"

namespace segfold::segments_test {
namespace {

using Integers = std::vector<std::int64_t>;

Array offsets_i32(std::initializer_list<std::int32_t> values)
{
    return make_array<std::int32_t>(Type::i32, values);
}

Array integers(std::initializer_list<std::int64_t> values)
{
    return make_array<std::int64_t>(Type::i64, values);
}

TEST(Segments, WholeIsOneSegmentAlsoOfNothing)
{
    for (const std::int64_t num_elements : {0, 1, 100}) {
        const Segments segments = whole_segments(num_elements);
        EXPECT_EQ(segments.form, SegmentForm::whole);
        EXPECT_EQ(segments.num_segments, 1);
        EXPECT_EQ(segments.begin(0), 0);
        EXPECT_EQ(segments.end(0), num_elements);
    }
    EXPECT_EQ(refusal([] { whole_segments(-1); }), "the number of elements is -1; it must not be negative");
}

TEST(Segments, UniformCutsEvenly)
{
    const Segments segments = uniform_segments(12, 4);
    EXPECT_EQ(segments.form, SegmentForm::uniform);
    EXPECT_EQ(segments.num_segments, 3);
    EXPECT_EQ(segments.uniform_length, 4);
    EXPECT_EQ(segments.begin(2), 8);
    EXPECT_EQ(segments.length(2), 4);
    EXPECT_EQ(uniform_segments(0, 4).num_segments, 0);
    EXPECT_EQ(
        refusal([] { uniform_segments(10, 4); }),
        "10 elements do not divide into segments of 4: 2 are left over; the number of elements must be a "
        "multiple of the length; for segments of other lengths give lengths or offsets");
    EXPECT_EQ(refusal([] { uniform_segments(10, 0); }), "the uniform length is 0; it must be at least 1");
    EXPECT_EQ(refusal([] { uniform_segments(10, -2); }), "the uniform length is -2; it must be at least 1");
}

TEST(Segments, OffsetsOfEveryIntegerType)
{
    const auto check = [](Array offsets) {
        const Segments segments = segments_from_offsets(std::move(offsets), 7);
        EXPECT_EQ(segments.form, SegmentForm::offsets);
        EXPECT_EQ(segments.num_segments, 5);
        EXPECT_EQ(segments.index_bits(), 32);
        EXPECT_EQ(segments.offsets.type(), Type::i32);
        EXPECT_EQ(to_integers(segments.offsets), (Integers{0, 0, 3, 3, 7, 7}));
        EXPECT_EQ(segments.begin(1), 0);
        EXPECT_EQ(segments.end(1), 3);
        EXPECT_EQ(segments.length(2), 0);
    };
    check(make_array<std::int8_t>(Type::i8, {0, 0, 3, 3, 7, 7}));
    check(make_array<std::int16_t>(Type::i16, {0, 0, 3, 3, 7, 7}));
    check(make_array<std::int32_t>(Type::i32, {0, 0, 3, 3, 7, 7}));
    check(make_array<std::int64_t>(Type::i64, {0, 0, 3, 3, 7, 7}));
    check(make_array<std::uint8_t>(Type::u8, {0, 0, 3, 3, 7, 7}));
    check(make_array<std::uint16_t>(Type::u16, {0, 0, 3, 3, 7, 7}));
    check(make_array<std::uint32_t>(Type::u32, {0, 0, 3, 3, 7, 7}));
    check(make_array<std::uint64_t>(Type::u64, {0, 0, 3, 3, 7, 7}));
}

TEST(Segments, OffsetsMayBeOfNoSegmentAndNoElement)
{
    const Segments none = segments_from_offsets(offsets_i32({0}), 0);
    EXPECT_EQ(none.num_segments, 0);
    EXPECT_EQ(segments_from_offsets(offsets_i32({0, 0, 0}), 0).num_segments, 2);
}

TEST(Segments, RefusesBadOffsets)
{
    const auto message = [](Array offsets, std::int64_t n) {
        return refusal([&] { segments_from_offsets(std::move(offsets), n); });
    };
    EXPECT_EQ(message(offsets_i32({}), 5),
              "offsets are empty; S segments need S + 1 offsets, so at least one");
    EXPECT_EQ(message(offsets_i32({3, 5}), 5), "offsets begin with 3; the first offset must be 0");
    EXPECT_EQ(message(offsets_i32({-1, 5}), 5), "offsets begin with -1; the first offset must be 0");
    EXPECT_EQ(message(offsets_i32({0, 4, 3, 2, 5}), 5),
              "offsets decrease at segment 1: 3 after 4; offsets must be non-decreasing");
    EXPECT_EQ(message(make_array<std::int8_t>(Type::i8, {0, 100, -100}), 5),
              "offsets decrease at segment 1: -100 after 100; offsets must be non-decreasing");
    EXPECT_EQ(message(offsets_i32({0, 4, 90}), 100),
              "offsets end at 90 but there are 100 elements; the last offset must be the number of elements");
    EXPECT_EQ(message(offsets_i32({0}), 3),
              "offsets end at 0 but there are 3 elements; the last offset must be the number of elements");
    EXPECT_EQ(message(offsets_i32({0, 4, 7, 9}), 5),
              "offsets go beyond the data at segment 1: it ends at 7 but there are 5 elements; the last "
              "offset must be "
              "the number of elements");
    EXPECT_EQ(
        message(make_array<std::uint64_t>(Type::u64, {0, std::numeric_limits<std::uint64_t>::max()}), 5),
        "offsets go beyond the data at segment 0: it ends at 18446744073709551615 but there are 5 elements; "
        "the "
        "last offset must be the number of elements");
    EXPECT_EQ(message(make_array<float>(Type::f32, {0, 5}), 5), "offsets are f32; they must be integers");
    EXPECT_EQ(message(make_array<bool>(Type::boolean, {false, true}), 1),
              "offsets are bool; they must be integers");
}

TEST(Segments, FindsTheFirstOfManyBadOffsets)
{
    Array offsets(Type::i32, 5001);
    const auto values = offsets.as<std::int32_t>();
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<std::int32_t>(20 * i);
    values[4181] = 90233;
    values[4182] = 90210;
    EXPECT_EQ(refusal([&] { segments_from_offsets(std::move(offsets), 100000); }),
              "offsets decrease at segment 4181: 90210 after 90233; offsets must be non-decreasing");
}

TEST(Segments, RangesMayOverlapAndLeaveGaps)
{
    const Segments segments =
        segments_from_ranges(make_array<std::uint8_t>(Type::u8, {5, 0, 2, 9}), integers({9, 4, 2, 10}), 10);
    EXPECT_EQ(segments.form, SegmentForm::ranges);
    EXPECT_EQ(segments.num_segments, 4);
    EXPECT_EQ(segments.begins.type(), Type::i32);
    EXPECT_EQ(segments.ends.type(), Type::i32);
    EXPECT_EQ(segments.begin(0), 5);
    EXPECT_EQ(segments.end(0), 9);
    EXPECT_EQ(segments.length(2), 0);
    EXPECT_EQ(segments_from_ranges(integers({}), integers({}), 10).num_segments, 0);
}

TEST(Segments, RefusesBadRanges)
{
    const auto message = [](std::initializer_list<std::int64_t> begins,
                            std::initializer_list<std::int64_t> ends) {
        return refusal([&] { segments_from_ranges(integers(begins), integers(ends), 10); });
    };
    EXPECT_EQ(message({0, 1}, {2}), "ranges have 2 begins but 1 end; there must be one of each per segment");
    EXPECT_EQ(message({0, -3}, {2, 4}),
              "range 1 begins at -3, outside of the data; it must be from 0 to 10, the number of elements");
    EXPECT_EQ(message({0, 11}, {2, 12}),
              "range 1 begins at 11, outside of the data; it must be from 0 to 10, the number of elements");
    EXPECT_EQ(message({0, 1, 2}, {2, 11, 12}),
              "range 1 ends at 11, outside of the data; it must be from 0 to 10, the number of elements");
    EXPECT_EQ(message({0, 5}, {2, 4}),
              "range 1 ends at 4, before its begin 5; an end must not lie before its begin");
    EXPECT_EQ(
        refusal([] {
            segments_from_ranges(integers({0}), make_array<std::uint64_t>(Type::u64, {~std::uint64_t{0}}),
                                 10);
        }),
        "range 0 ends at 18446744073709551615, outside of the data; it must be from 0 to 10, the number of "
        "elements");
    EXPECT_EQ(refusal([] { segments_from_ranges(make_array<double>(Type::f64, {0}), integers({1}), 10); }),
              "begins are f64; they must be integers");
}

TEST(Segments, WidthFollowsFromTheData)
{
    constexpr std::int64_t large = kMaxNarrowIndex + 1;
    EXPECT_EQ(whole_segments(kMaxNarrowIndex).index_bits(), 32);
    EXPECT_EQ(whole_segments(large).index_bits(), 64);
    EXPECT_EQ(segments_from_offsets(integers({0, 1, large}), large).offsets.type(), Type::i64);
    EXPECT_EQ(segments_from_offsets(integers({0, kMaxNarrowIndex}), kMaxNarrowIndex).index_bits(), 32);
    // Few elements, but many ranges over all of them.
    const Segments overlapping =
        segments_from_ranges(integers({0, 0, 0}), integers({1 << 30, 1 << 30, 1 << 30}), 1 << 30);
    EXPECT_EQ(overlapping.index_bits(), 64);
    EXPECT_EQ(overlapping.begins.type(), Type::i64);
    EXPECT_EQ(overlapping.end(2), 1 << 30);
}

TEST(Segments, WidthCountsAllThatThereIs)
{
    EXPECT_EQ(index_bits_for({}), 32);
    EXPECT_EQ(index_bits_for({0, kMaxNarrowIndex}), 32);
    EXPECT_EQ(index_bits_for({kMaxNarrowIndex + 1, 0}), 64);
    EXPECT_EQ(index_bits_for({0, 1, kMaxNarrowIndex + 1}), 64);
    // Each of these is narrow alone: the elements, the segments, the longest of them.
    const std::int64_t half = kMaxNarrowIndex / 2;
    EXPECT_EQ(segments_from_ranges(integers({0, 0}), integers({half, half}), half).index_bits(), 32);
    EXPECT_EQ(segments_from_ranges(integers({0, 0, 7}), integers({half, half, 8}), half).index_bits(), 64);
    EXPECT_EQ(uniform_segments(0, kMaxNarrowIndex).index_bits(), 32);
    EXPECT_EQ(uniform_segments(0, kMaxNarrowIndex + 1).index_bits(), 64);
}

TEST(Segments, SumsOfRangesDoNotOverflow)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto segments = segments_from_ranges(integers({0, 0, 0}), integers({most, most, most}), most);
    EXPECT_EQ(segments.index_bits(), 64);
    EXPECT_EQ(num_items(segments), most);
}

TEST(Segments, WidthCanBeForced)
{
    const Segments wide = with_index_bits(segments_from_offsets(offsets_i32({0, 2, 3}), 3), 64);
    EXPECT_EQ(wide.index_bits(), 64);
    EXPECT_EQ(to_vector<std::int64_t>(wide.offsets), (Integers{0, 2, 3}));
    EXPECT_EQ(with_index_bits(wide.copy(), 32).offsets.type(), Type::i32);
    EXPECT_EQ(with_index_bits(uniform_segments(12, 4), 64).index_type(), Type::i64);
    EXPECT_EQ(with_index_bits(segments_from_ranges(integers({1}), integers({2}), 3), 64).ends.type(),
              Type::i64);
    EXPECT_EQ(refusal([] { with_index_bits(whole_segments(kMaxNarrowIndex + 1), 32); }),
              "32-bit indices reach to 2013265920 but 2013265921 are needed; use 64 bits");
    EXPECT_EQ(refusal([] { with_index_bits(whole_segments(1), 16); }),
              "the width of an index is 16 bits; it must be 32 or 64");
}

TEST(Segments, LengthsBecomeOffsets)
{
    const Segments segments = segments_from_lengths(make_array<std::uint16_t>(Type::u16, {0, 3, 0, 4}), 7);
    EXPECT_EQ(segments.form, SegmentForm::offsets);
    EXPECT_EQ(segments.num_segments, 4);
    EXPECT_EQ(to_integers(segments.offsets), (Integers{0, 0, 3, 3, 7}));
    EXPECT_EQ(segments_from_lengths(integers({}), 0).num_segments, 0);
}

TEST(Segments, RefusesBadLengths)
{
    const auto message = [](std::initializer_list<std::int64_t> lengths) {
        return refusal([&] { segments_from_lengths(integers(lengths), 10); });
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(message({4, -3, 9}), "length 1 is -3; lengths must not be negative");
    EXPECT_EQ(message({4, 5}),
              "lengths add up to 9 but there are 10 elements; they must add up to the number of elements");
    EXPECT_EQ(message({4, 7, 1}),
              "lengths exceed the 10 elements at segment 1: its length is 7 after 4 elements; lengths must "
              "add up to "
              "the number of elements");
    EXPECT_EQ(message({1, most, most}),
              "lengths exceed the 10 elements at segment 1: its length is 9223372036854775807 after 1 "
              "element; lengths must add up to the number of elements");
    EXPECT_EQ(refusal([] { segments_from_lengths(make_array<float>(Type::f32, {10}), 10); }),
              "lengths are f32; they must be integers");
}

TEST(Segments, FlagsStayAndBecomeOffsets)
{
    const auto check = [](Array flags) {
        const Segments segments = segments_from_flags(std::move(flags), 6);
        EXPECT_EQ(segments.form, SegmentForm::flags);
        ASSERT_EQ(size_bytes(segments.flags.type()), 1u);
        for (const std::size_t i : {0u, 1u, 2u, 3u, 4u, 5u})
            EXPECT_EQ(segments.flags.as<std::uint8_t>()[i] != 0, i == 0 || i == 1 || i == 4) << i;
        EXPECT_EQ(to_integers(segments.offsets), (Integers{0, 1, 4, 6}));
        EXPECT_FALSE(segments.keys);
    };
    check(make_array<bool>(Type::boolean, {true, true, false, false, true, false}));
    check(make_array<std::int8_t>(Type::i8, {-1, 2, 0, 0, 3, 0}));
    check(make_array<std::int32_t>(Type::i32, {256, 65536, 0, 0, 1, 0}));
    check(make_array<std::int64_t>(Type::i64, {1, std::int64_t{1} << 40, 0, 0, 1, 0}));
    EXPECT_EQ(segments_from_flags(make_array<std::uint8_t>(Type::u8, {}), 0).num_segments, 0);
}

TEST(Segments, TheFirstElementStartsASegmentWithoutAFlag)
{
    const auto bytes = segments_from_flags(make_array<std::uint8_t>(Type::u8, {0, 0, 1}), 3);
    EXPECT_EQ(to_integers(bytes.offsets), (std::vector<std::int64_t>{0, 2, 3}));
    EXPECT_EQ(to_vector<std::uint8_t>(bytes.flags), (std::vector<std::uint8_t>{1, 0, 1}));
    const auto wide = segments_from_flags(make_array<std::int32_t>(Type::i32, {0, 256, 0}), 3);
    EXPECT_EQ(to_integers(wide.offsets), (std::vector<std::int64_t>{0, 1, 3}));
    EXPECT_EQ(to_vector<std::uint8_t>(wide.flags), (std::vector<std::uint8_t>{1, 1, 0}));

    const std::vector<std::uint8_t> lent = {0, 0, 1};
    const auto borrowed = segments_from_flags(Array::borrow(Type::u8, lent.data(), lent.size()), 3);
    EXPECT_EQ(to_vector<std::uint8_t>(borrowed.flags), (std::vector<std::uint8_t>{1, 0, 1}));
    EXPECT_EQ(lent.front(), 0) << "the caller's memory is only read";
}

TEST(Segments, RefusesBadFlags)
{
    EXPECT_EQ(refusal([] {
                  segments_from_flags(make_array<std::uint8_t>(Type::u8, {1, 0}), 3);
              }),
              "there are 2 flags but 3 elements; give one flag per element");
    EXPECT_EQ(refusal([] {
                  segments_from_flags(make_array<float>(Type::f32, {1, 0}), 2);
              }),
              "flags are f32; they must be bool or integers");
}

TEST(Segments, KeysGiveRunsAndTheirKeys)
{
    const Segments segments = segments_from_keys(integers({7, 7, -2, 7, 7, 7}), 6);
    EXPECT_EQ(segments.form, SegmentForm::keys);
    EXPECT_EQ(to_vector<std::int64_t>(segments.item_keys), (Integers{7, 7, -2, 7, 7, 7}));
    EXPECT_EQ(to_integers(segments.offsets), (Integers{0, 2, 3, 6}));
    ASSERT_TRUE(segments.keys);
    EXPECT_EQ(to_vector<std::int64_t>(*segments.keys), (Integers{7, -2, 7}));
    const Segments bytes = segments_from_keys(make_array<std::uint8_t>(Type::u8, {1, 2, 2}), 3);
    EXPECT_EQ(to_vector<std::uint8_t>(*bytes.keys), (std::vector<std::uint8_t>{1, 2}));
    EXPECT_EQ(segments_from_keys(integers({}), 0).num_segments, 0);
    EXPECT_EQ(refusal([] {
                  segments_from_keys(integers({1, 2}), 3);
              }),
              "there are 2 keys but 3 elements; give one key per element");
}

TEST(Segments, FloatKeysAreEqualByTheirBits)
{
    const double nan = std::nan("");
    const Segments segments =
        segments_from_keys(make_array<double>(Type::f64, {nan, nan, 0.0, -0.0, 1.5}), 5);
    EXPECT_EQ(to_integers(segments.offsets), (Integers{0, 2, 3, 4, 5}));
    EXPECT_EQ(segments.keys->type(), Type::f64);
    EXPECT_TRUE(std::isnan(segments.keys->as<double>()[0]));
}

TEST(Segments, StartsAreFoundInEveryChunk)
{
    // Runs of 1, 2, 3, ... over more elements than one thread scans at a time.
    constexpr std::size_t num_runs = 2000, num_elements = num_runs * (num_runs + 1) / 2;
    Array keys(Type::i16, num_elements), flags(Type::boolean, num_elements);
    std::vector<std::int64_t> expected = {0};
    std::size_t i = 0;
    for (std::size_t run = 1; run <= num_runs; ++run) {
        for (std::size_t place = 0; place < run; ++place, ++i) {
            keys.as<std::int16_t>()[i] = static_cast<std::int16_t>(run);
            flags.as<bool>()[i] = place == 0;
        }
        expected.push_back(static_cast<std::int64_t>(i));
    }
    const Segments by_keys = segments_from_keys(std::move(keys), num_elements);
    EXPECT_EQ(to_integers(by_keys.offsets), expected);
    EXPECT_EQ(by_keys.keys->as<std::int16_t>()[num_runs - 1], static_cast<std::int16_t>(num_runs));
    EXPECT_EQ(to_integers(segments_from_flags(std::move(flags), num_elements).offsets), expected);
}

TEST(Segments, CopiesAreEqualAndApart)
{
    Segments segments = segments_from_keys(integers({1, 2, 2}), 3);
    const Segments copy = segments.copy();
    segments.offsets.as<std::int32_t>()[1] = 99;
    EXPECT_EQ(to_integers(copy.offsets), (Integers{0, 1, 3}));
    EXPECT_EQ(to_vector<std::int64_t>(*copy.keys), (Integers{1, 2}));
    EXPECT_EQ(to_vector<std::int64_t>(copy.item_keys), (Integers{1, 2, 2}));
    EXPECT_EQ(copy.num_segments, 2);
}

TEST(Segments, MayBeGivenAsFlagsOrKeys)
{
    const auto offsets = segments_from_offsets(integers({0, 1, 4, 6}), 6);
    for (const auto form : {SegmentForm::flags, SegmentForm::keys}) {
        const auto segments = given_as(form, offsets);
        EXPECT_EQ(segments.form, form);
        EXPECT_EQ(to_integers(segments.offsets), (Integers{0, 1, 4, 6}));
        const auto wide = with_index_bits(segments.copy(), 64);
        EXPECT_EQ(wide.offsets.type(), Type::i64);
    }
    EXPECT_EQ(
        refusal([] {
            given_as(SegmentForm::keys, segments_from_offsets(integers({0, 2, 2, 3}), 3));
        }),
        "segment 1 covers elements 2 to 2 after 2; for keys, segments must be contiguous and not empty");
}

/// Flags or keys of `type`, of which `starts[i]` says whether a segment starts at element i.
Array marks_of(SegmentForm form, Type type, const std::vector<bool>& starts)
{
    Array marks(type, starts.size());
    const auto bytes = size_bytes(type);
    std::uint8_t key = 1;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        key = static_cast<std::uint8_t>(starts[i] ? key ^ 0x81 : key);
        auto* const value = marks.data() + i * bytes;
        std::memset(value, 0, bytes);
        value[bytes - 1] = static_cast<std::byte>(form == SegmentForm::keys ? key
                                                  : starts[i]               ? std::uint8_t{0x80}
                                                                            : 0);
        if (type == Type::boolean && value[0] != std::byte{0})
            value[0] = std::byte{1};
    }
    return marks;
}

/// Around the sizes that are looked at together, with no start, few, many and all.
TEST(Segments, StartsAreFoundAtEveryPlace)
{
    std::mt19937 random(5);
    for (const std::size_t size : {0, 1, 2, 63, 64, 65, 127, 128, 1000, 65535, 65536, 65537, 131072 + 77})
        for (const unsigned one_in : {1U, 2U, 9U, 300U, 0U}) {
            std::vector<bool> starts(size);
            for (std::size_t i = 0; i < size; ++i)
                starts[i] = one_in != 0 && random() % one_in == 0;
            if (size > 64)
                starts[63] = starts[64] = starts[size - 1] = one_in != 0;
            Integers wanted;
            for (std::size_t i = 0; i < size; ++i)
                if (i == 0 || starts[i])
                    wanted.push_back(static_cast<std::int64_t>(i));
            wanted.push_back(static_cast<std::int64_t>(size));
            for (const auto form : {SegmentForm::flags, SegmentForm::keys})
                for (const Type type : {Type::boolean, Type::u8, Type::i16, Type::i32, Type::u64}) {
                    if (form == SegmentForm::keys && type == Type::boolean)
                        continue;
                    const auto count = static_cast<std::int64_t>(size);
                    const auto segments = form == SegmentForm::flags
                                              ? segments_from_flags(marks_of(form, type, starts), count)
                                              : segments_from_keys(marks_of(form, type, starts), count);
                    ASSERT_EQ(segments.num_segments, std::ssize(wanted) - 1)
                        << size << ", one in " << one_in << ", " << name(form) << " of " << name(type);
                    for (std::size_t s = 0; s < wanted.size(); ++s)
                        ASSERT_EQ(segments.offsets.as<std::int32_t>()[s], wanted[s])
                            << size << ", one in " << one_in << ", " << name(form) << " of " << name(type);
                }
        }
}

}  // namespace
}  // namespace segfold::segments_test
