#include "runtime/data/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "runtime/support/visit_type.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::groups_test {
namespace {

template <class T>
std::vector<std::int64_t> values_of(const Array& array)
{
    const auto values = array.as<T>();
    return {values.begin(), values.end()};
}

/// The elements of each group, in the order in which they stand.
template <class T>
std::vector<std::vector<std::int64_t>> groups_by_loop(const std::vector<T>& numbers, std::int64_t num_groups)
{
    std::vector<std::vector<std::int64_t>> groups(static_cast<std::size_t>(num_groups));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (std::cmp_greater_equal(numbers[i], 0))
            groups[static_cast<std::size_t>(numbers[i])].push_back(static_cast<std::int64_t>(i));
    return groups;
}

template <class T>
void expect_like_a_loop(Type type, const std::vector<T>& numbers, std::int64_t num_groups)
{
    const GroupOrder order(Array::of<T>(type, numbers), num_groups);
    const auto groups = groups_by_loop(numbers, num_groups);
    ASSERT_EQ(order.segments().num_segments, num_groups);
    EXPECT_EQ(order.segments().num_elements, std::ssize(numbers));
    const auto places = order.places();
    const auto at = places.template as<std::int64_t>();
    const auto same = order.unsorted(order.sorted(Array::of<T>(type, numbers)));
    ASSERT_TRUE(std::ranges::equal(same.template as<T>(), numbers));
    for (std::int64_t g = 0; g < num_groups; ++g) {
        const auto begin = at.begin() + order.segments().begin(g), end = at.begin() + order.segments().end(g);
        ASSERT_EQ(std::vector(begin, end), groups[static_cast<std::size_t>(g)]) << "group " << g;
    }
}

template <class T>
void try_type(Type type)
{
    std::mt19937_64 random(3);
    for (const std::int64_t count : {0, 1, 2, 1000, 140001})
        for (const std::int64_t num_groups : {1, 2, 100}) {
            if (count > 1000 && num_groups != 100)
                continue;  // several threads take part
            SCOPED_TRACE(testing::Message() << name(type) << ": " << count << " in " << num_groups);
            std::vector<T> numbers(static_cast<std::size_t>(count));
            for (auto& number : numbers)
                number = static_cast<T>(random() % static_cast<std::uint64_t>(num_groups));
            expect_like_a_loop(type, numbers, num_groups);
            expect_like_a_loop(type, numbers, num_groups + 7);
            if constexpr (std::is_signed_v<T>) {
                for (auto& number : numbers)
                    if (random() % 3 == 0)
                        number = std::numeric_limits<T>::lowest();
                expect_like_a_loop(type, numbers, num_groups);
            }
            std::ranges::sort(numbers);
            expect_like_a_loop(type, numbers, num_groups);
            std::ranges::reverse(numbers);
            expect_like_a_loop(type, numbers, num_groups);
        }
}

TEST(Groups, AreThoseOfALoopForEveryTypeOfNumber)
{
    try_type<std::int8_t>(Type::i8);
    try_type<std::uint8_t>(Type::u8);
    try_type<std::int16_t>(Type::i16);
    try_type<std::uint16_t>(Type::u16);
    try_type<std::int32_t>(Type::i32);
    try_type<std::uint32_t>(Type::u32);
    try_type<std::int64_t>(Type::i64);
    try_type<std::uint64_t>(Type::u64);
}

/// Numbers of a share are counted apart only where there are more elements than groups.
TEST(Groups, MayBeMoreThanElements)
{
    std::mt19937_64 random(5);
    std::vector<std::int32_t> numbers(200000);
    for (auto& number : numbers)
        number = static_cast<std::int32_t>(random() % 900000);
    expect_like_a_loop(Type::i32, numbers, 900000);
}

TEST(Groups, ThatStandInOrderMoveNothing)
{
    EXPECT_FALSE(GroupOrder(make_array<std::int32_t>(Type::i32, {0, 0, 2, 5}), 6).moves());
    EXPECT_FALSE(GroupOrder(make_array<std::int32_t>(Type::i32, {-4, -1, -3, 0, 2}), 6).moves());
    EXPECT_TRUE(GroupOrder(make_array<std::int32_t>(Type::i32, {0, -1}), 6).moves());
}

TEST(Groups, AreAsManyAsTheLargestNumberSays)
{
    const GroupOrder order(make_array<std::int64_t>(Type::i64, {1, 3, 1}), std::nullopt);
    EXPECT_EQ(values_of<std::int32_t>(order.segments().offsets), (std::vector<std::int64_t>{0, 0, 2, 2, 3}));
    EXPECT_EQ(GroupOrder(make_array<std::int64_t>(Type::i64, {-1, -9}), std::nullopt).segments().num_segments,
              0);
    EXPECT_EQ(GroupOrder(Array(Type::i32, 0), std::nullopt).segments().num_segments, 0);
    EXPECT_EQ(GroupOrder(Array(Type::i32, 0), 3).segments().num_segments, 3);
}

/// Elements of no group come first, and belong to no segment.
TEST(Groups, LeaveOutNegativeNumbers)
{
    const GroupOrder order(make_array<std::int32_t>(Type::i32, {1, -5, 0, 1}), 2);
    EXPECT_EQ(order.segments().form, SegmentForm::ranges);
    EXPECT_EQ(values_of<std::int32_t>(order.segments().begins), (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(values_of<std::int32_t>(order.segments().ends), (std::vector<std::int64_t>{2, 4}));
    EXPECT_EQ(values_of<std::int64_t>(order.places()), (std::vector<std::int64_t>{1, 2, 0, 3}));
}

TEST(Groups, WrongOnesAreNamed)
{
    const auto message = [](const Array& numbers, std::optional<std::int64_t> num_groups) {
        return test::message_of([&] { (void)GroupOrder(numbers, num_groups); });
    };
    EXPECT_EQ(
        message(make_array<std::int32_t>(Type::i32, {0, 7, 9}), 5),
        "the number of the group of element 1 is 7, and there are 5 groups: numbers go from 0 to 4, and a "
        "negative one means no group");
    EXPECT_EQ(
        message(make_array<std::uint64_t>(Type::u64, {0, ~std::uint64_t{0}}), 1),
        "the number of the group of element 1 is 18446744073709551615, and there is 1 group: numbers go "
        "from 0 to 0, and a negative one means no group");
    EXPECT_EQ(
        message(make_array<std::int8_t>(Type::i8, {-1, 0}), 0),
        "the number of the group of element 1 is 0, and there are 0 groups: only a negative number, which "
        "means no group, is right");
    EXPECT_EQ(message(make_array<float>(Type::f32, {0}), 1),
              "the numbers of groups are f32; they are integers");
    EXPECT_EQ(message(make_array<std::int32_t>(Type::i32, {0}), -2),
              "the number of groups is -2; it is 0 or more");
    EXPECT_NE(
        message(make_array<std::int64_t>(Type::i64, {std::int64_t{1} << 60}), std::nullopt).find("memory"),
        std::string::npos);
    EXPECT_NE(message(make_array<std::uint64_t>(Type::u64, {~std::uint64_t{0}}), std::nullopt)
                  .find("is 18446744073709551615"),
              std::string::npos);
}

/// The numbers of elements, in the widest type.
std::vector<std::int64_t> wide(const Array& numbers)
{
    std::vector<std::int64_t> all;
    visit_integers(numbers, [&](auto each) { all.assign(each.begin(), each.end()); });
    return all;
}

/// Numbers of keys beside those of a map, whose order is the keys' or that of their first places.
template <class T>
void expect_like_a_map(const std::vector<T>& keys, const NumberedKeys& found, KeyOrder order)
{
    std::map<T, std::int64_t> firsts;
    for (std::size_t i = 0; i < keys.size(); ++i)
        firsts.try_emplace(keys[i], i);
    std::vector<std::pair<std::int64_t, T>> ordered;
    for (const auto& [key, first] : firsts)
        ordered.emplace_back(first, key);
    if (order == KeyOrder::first)
        std::ranges::sort(ordered);
    ASSERT_EQ(found.firsts.length(), ordered.size());
    std::map<T, std::int64_t> numbers;
    for (std::size_t number = 0; number < ordered.size(); ++number) {
        ASSERT_EQ(found.firsts.template as<std::int32_t>()[number], ordered[number].first);
        numbers[ordered[number].second] = static_cast<std::int64_t>(number);
    }
    const auto given = wide(found.numbers);
    for (std::size_t i = 0; i < keys.size(); ++i)
        ASSERT_EQ(given[i], numbers[keys[i]]) << i;
}

/// Tries both ways of numbering. Returns whether keys are near to each other.
template <class T>
bool expect_like_a_map(Type type, const std::vector<T>& keys, KeyOrder order)
{
    const auto column = Array::of<T>(type, keys);
    expect_like_a_map(keys, number_keys({&column, 1}, order), order);
    const auto near = number_near_keys(column, order);
    if (near)
        expect_like_a_map(keys, *near, order);
    return near.has_value();
}

template <class T>
void try_keys(Type type)
{
    std::mt19937_64 random(9);
    for (const auto order : {KeyOrder::ascending, KeyOrder::first})
        for (const int count : {0, 1, 3000, 150001})
            for (const int distinct : {1, 3, 90}) {
                if (count > 3000 && distinct != 90)
                    continue;  // several threads take part
                SCOPED_TRACE(testing::Message() << name(type) << ": " << count << " of " << distinct);
                std::vector<T> keys(static_cast<std::size_t>(count));
                for (auto& key : keys)
                    key = static_cast<T>(static_cast<int>(random() % static_cast<std::uint64_t>(distinct)) -
                                         30);
                expect_like_a_map(type, keys, order);
            }
}

TEST(KeyNumbers, AreThoseOfAMapForEveryWidth)
{
    try_keys<std::int8_t>(Type::i8);
    try_keys<std::uint16_t>(Type::u16);
    try_keys<std::int32_t>(Type::i32);
    try_keys<std::uint64_t>(Type::u64);
    try_keys<float>(Type::f32);
    try_keys<double>(Type::f64);
}

/// Keys from `low` to `low + greatest`, all of them or every third one, in any order.
std::vector<std::int64_t> shuffled_keys(std::int64_t low, std::int64_t greatest, std::int64_t step)
{
    std::mt19937_64 random(9);
    std::vector<std::int64_t> keys(300000);
    for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i] = low + static_cast<std::int64_t>(i) % (greatest + 1) / step * step;
    std::ranges::shuffle(keys, random);
    return keys;
}

/// Numbers have 16 bits up to a range of 2^16.
TEST(KeyNumbers, OfRangesAroundTheWidthOfANumber)
{
    for (const std::int64_t greatest : {30000, 65535, 65536})
        for (const std::int64_t step : {1, 3})
            for (const auto order : {KeyOrder::ascending, KeyOrder::first}) {
                SCOPED_TRACE(testing::Message() << greatest << " in steps of " << step);
                const bool is_near = expect_like_a_map(Type::i64, shuffled_keys(-5, greatest, step), order);
                EXPECT_TRUE(greatest > 32767 || is_near);
                EXPECT_FALSE(greatest == 65536 && is_near);
            }
}

/// The range of keys near to the first one ends where their type ends.
TEST(KeyNumbers, OfTheEndsOfATypeAreInOrder)
{
    using Limits = std::numeric_limits<std::int64_t>;
    for (const auto order : {KeyOrder::ascending, KeyOrder::first}) {
        EXPECT_TRUE(expect_like_a_map(Type::i64, shuffled_keys(Limits::min(), 20, 1), order));
        EXPECT_TRUE(expect_like_a_map(Type::i64, shuffled_keys(Limits::max() - 20, 20, 1), order));
        auto keys = shuffled_keys(Limits::max() - 20, 20, 1);
        keys[77] = Limits::min();
        EXPECT_FALSE(expect_like_a_map(Type::i64, keys, order));
        std::vector<std::uint64_t> unsigned_keys(300000, 5);
        unsigned_keys[77] = ~std::uint64_t{0};
        EXPECT_FALSE(expect_like_a_map(Type::u64, unsigned_keys, order));
        EXPECT_TRUE(expect_like_a_map(Type::i8, std::vector<std::int8_t>(300000, -128), order));
    }
}

TEST(KeyNumbers, OfAnotherRangeAreRefused)
{
    const auto keys = Array::of<std::int32_t>(Type::i32, std::vector<std::int32_t>{0, 9, 4});
    for (const std::int64_t size : {5, 100000})
        EXPECT_EQ(test::message_of([&] {
                      (void)number_keys(keys, KeyRange{size == 5 ? 0U : 1U, size}, KeyOrder::first);
                  }),
                  "the keys were changed while a fold read them");
}

/// The tables grow; keys that differ in their high bits alone, or by a power of two, are found too.
TEST(KeyNumbers, OfManyDistinctKeys)
{
    std::mt19937_64 random(9);
    for (const int shift : {0, 13, 40}) {
        std::vector<std::int64_t> keys(100000);
        for (auto& key : keys)
            key = static_cast<std::int64_t>(random() % 60000) << shift;
        expect_like_a_map(Type::i64, keys, KeyOrder::ascending);
        expect_like_a_map(Type::i64, keys, KeyOrder::first);
    }
}

TEST(KeyNumbers, OfSeveralColumnsAreThoseOfTheirRows)
{
    std::mt19937_64 random(4);
    const std::size_t count = 5000;
    std::vector<std::int16_t> first(count);
    std::vector<float> second(count);
    for (std::size_t i = 0; i < count; ++i) {
        first[i] = static_cast<std::int16_t>(random() % 40) - 20;
        second[i] = static_cast<float>(random() % 70) - 35;
    }
    std::vector<Array> columns;
    columns.push_back(Array::of<std::int16_t>(Type::i16, first));
    columns.push_back(Array::of<float>(Type::f32, second));
    const auto found = number_keys(columns, KeyOrder::ascending);
    std::map<std::pair<std::int16_t, float>, std::int32_t> numbers;
    for (std::size_t i = 0; i < count; ++i)
        numbers[{first[i], second[i]}] = 0;
    std::int32_t next = 0;
    for (auto& [row, number] : numbers)
        number = next++;
    ASSERT_EQ(found.firsts.length(), numbers.size());
    const auto given = wide(found.numbers);
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(given[i], (numbers[{first[i], second[i]}])) << i;
}

}  // namespace
}  // namespace segfold::groups_test
