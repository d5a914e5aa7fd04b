// Widths of indices if the items of overlapping ranges are more than the elements, on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/data/segments.h"
#include "runtime/session/plan_state.h"
#include "tests/common/front_door.h"

namespace segfold::test::index_width_test {
namespace {

constexpr std::int64_t kElements = 60000;
constexpr std::int64_t kWideRanges = 36000;  // each holds all elements: 2.16e9 items

/// `count` ranges over all elements.
struct Ranges {
    explicit Ranges(std::int64_t count)
        : begins(static_cast<std::size_t>(count), 0), ends(static_cast<std::size_t>(count), kElements)
    {}
    [[nodiscard]] SegmentsView view() const { return ranges(begins, ends); }

    std::vector<std::int64_t> begins, ends;
};

std::vector<std::uint8_t> ones() { return std::vector<std::uint8_t>(kElements, 1); }

Operator highest_place()
{
    return parse_operator(
        "highest_place",
        "operator highest_place(x: u8) -> i64 {\n"
        "  state p: i64 = -1  lift x == 0 ? i64(-1) : i64(position)  combine(a, b) max(a, b)\n"
        "  laws commutative\n"
        "}");
}

TEST(IndexWidth, AFoldCountsTheElementsOfAllRanges)
{
    auto session = session_on("cpu");
    const Ranges wide(kWideRanges);
    const auto folded = session.fold(highest_place(), {ones()}, wide.view());
    const auto places = folded.values<std::int64_t>();
    EXPECT_EQ(std::ranges::count(places, kElements - 1), kWideRanges);
}

TEST(IndexWidth, APlanCountsThemToo)
{
    auto session = session_on("cpu");
    const Ranges wide(kWideRanges);
    auto plan = session.plan(highest_place(), wide.view(), kElements);
    std::vector<std::int64_t> places(kWideRanges, 7);
    plan.run({ones()}, wide.view(), {places});
    EXPECT_EQ(std::ranges::count(places, kElements - 1), kWideRanges);
    // The same number of ranges with fewer items.
    Ranges few(kWideRanges);
    for (std::size_t s = 0; s < few.ends.size(); ++s)
        few.ends[s] = static_cast<std::int64_t>(s % 3);
    plan.run({ones()}, few.view(), {places});
    for (std::size_t s = 0; s < places.size(); ++s)
        ASSERT_EQ(places[s], static_cast<std::int64_t>(s % 3) - 1);
    plan.resize(Ranges(2).view(), kElements);
    plan.run({ones()}, Ranges(2).view(), {places});
    EXPECT_EQ(places[1], kElements - 1);
}

TEST(IndexWidth, APlanRefusesRangesThatHaveMoreElementsThanItCounts)
{
    auto session = session_on("cpu");
    Ranges few(kWideRanges);
    std::ranges::fill(few.ends, 3);
    auto plan = session.plan(highest_place(), few.view(), kElements);
    std::vector<std::int64_t> places(kWideRanges, 7);
    const Ranges wide(kWideRanges);
    EXPECT_EQ(message_of([&] { plan.run({ones()}, wide.view(), {places}); }),
              "the plan of highest_place is for ranges of at most 2013265920 elements in all, and is given "
              "ranges of "
              "2160000000; make another plan");
    EXPECT_EQ(std::ranges::count(places, 7), kWideRanges);
    EXPECT_EQ(message_of([&] { plan.resize(wide.view(), kElements); }),
              "the plan of highest_place is for segments by ranges with 32-bit indices, and resize() is "
              "given segments "
              "by ranges with 64-bit indices; it takes other numbers of elements and segments, so make "
              "another plan");
    plan.run({ones()}, few.view(), {places});
    EXPECT_EQ(std::ranges::count(places, 2), kWideRanges);
}

TEST(IndexWidth, APlanOfRangesThatNobodyHasReadCountsAllElementsInEach)
{
    auto session = session_on("cpu");
    const ArrayView unknown{Type::i64, nullptr, kWideRanges};
    auto plan = session.plan(highest_place(), ranges(unknown, unknown), kElements);
    const Ranges wide(kWideRanges);
    std::vector<std::int64_t> places(kWideRanges, 7);
    plan.run({ones()}, wide.view(), {places});
    EXPECT_EQ(std::ranges::count(places, kElements - 1), kWideRanges);
}

TEST(IndexWidth, ALengthIsCountedThoughThereAreNoElements)
{
    auto session = session_on("cpu");
    const auto none = uniform(std::int64_t{1} << 32);
    auto plan = session.plan(standard_operator("sum_i32"), none, 0);
    std::vector<int> values, sums;
    plan.run({values}, none, {sums});
    EXPECT_EQ(session.fold(standard_operator("sum_i32"), {values}, none).num_segments(), 0);
}

/// Returns a plan's index width for segments on a device, or the message of its error.
std::string width_of(const SegmentsView& segments, std::int64_t num_elements)
{
    int bits = 0;
    const auto message = message_of([&] { bits = plan_sizes(segments, num_elements).sizes.index_bits; });
    return bits != 0 ? std::to_string(bits) : message;
}

TEST(IndexWidth, SegmentsOnADeviceHaveTheWidthOfTheirArrays)
{
    const auto array = [](Type type, std::int64_t length) {
        return ArrayView{type, nullptr, length, Place::device};
    };
    constexpr std::int64_t most = kMaxNarrowIndex;
    // The items of ranges on a device are not counted, so ranges of many elements may overlap.
    EXPECT_EQ(width_of(ranges(array(Type::i32, most), array(Type::i32, most)), most), "32");
    EXPECT_EQ(width_of(ranges(array(Type::i64, 2), array(Type::i64, 2)), 3), "64");
    EXPECT_EQ(width_of(ranges(array(Type::i32, 2), array(Type::i64, 2)), 3),
              "begins on a device are i32 and ends i64; both are of one type");
    EXPECT_EQ(width_of(ranges(array(Type::i32, most + 1), array(Type::i32, most + 1)), 3),
              "ranges on a device are i32, and 2013265921 segments need i64");
    EXPECT_EQ(width_of(offsets(array(Type::i32, most + 1)), most), "32");
    EXPECT_EQ(width_of(offsets(array(Type::i32, most + 2)), most),
              "offsets on a device are i32, and 2013265921 segments need i64");
    EXPECT_EQ(width_of(lengths(array(Type::i32, 1)), most + 1),
              "lengths on a device are i32, and 2013265921 elements need i64");
}

}  // namespace
}  // namespace segfold::test::index_width_test
