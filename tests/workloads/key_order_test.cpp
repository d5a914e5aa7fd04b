#include "runtime/data/key_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <set>

#include "dsl/text/parser.h"
#include "tests/common/files.h"

namespace segfold::key_order_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Array random_keys(Type type, std::size_t count, std::uint64_t distinct, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::vector<T> keys(count);
    for (auto& key : keys)
        key = std::bit_cast<T>(
            static_cast<std::conditional_t<
                sizeof(T) == 8, std::uint64_t,
                std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                   std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>>(
                (random() % distinct) * 0x9E3779B97F4A7C15U));
    return Array::of<T>(type, keys);
}

/// Held against a stable sort and a set of the same keys.
template <class T>
void expect_like_a_stable_sort(const Array& keys)
{
    const auto values = keys.as<T>();
    std::vector<std::size_t> wanted(values.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        wanted[i] = i;
    std::ranges::stable_sort(wanted, {}, [&](std::size_t i) { return values[i]; });
    const auto places = sorted_places(keys);
    if (!places) {
        EXPECT_TRUE(std::ranges::is_sorted(values));
    } else {
        EXPECT_EQ(places->type(), Type::i32);
        EXPECT_TRUE(std::ranges::equal(places->as<std::int32_t>(), wanted));
    }
    EXPECT_EQ(count_distinct(keys), std::ssize(std::set<T>(values.begin(), values.end())));
}

TEST(KeyOrder, IsThatOfAStableSortForAnyWidthAndSign)
{
    for (const std::size_t count : {0, 1, 2, 3, 100, 5000})
        for (const std::uint64_t distinct : {1, 2, 7, 300, 1 << 30}) {
            SCOPED_TRACE(testing::Message() << count << " keys of " << distinct);
            expect_like_a_stable_sort<std::int8_t>(random_keys<std::int8_t>(Type::i8, count, distinct, 1));
            expect_like_a_stable_sort<std::uint8_t>(random_keys<std::uint8_t>(Type::u8, count, distinct, 2));
            expect_like_a_stable_sort<std::int16_t>(random_keys<std::int16_t>(Type::i16, count, distinct, 3));
            expect_like_a_stable_sort<std::uint16_t>(
                random_keys<std::uint16_t>(Type::u16, count, distinct, 4));
            expect_like_a_stable_sort<std::int32_t>(random_keys<std::int32_t>(Type::i32, count, distinct, 5));
            expect_like_a_stable_sort<std::uint32_t>(
                random_keys<std::uint32_t>(Type::u32, count, distinct, 6));
            expect_like_a_stable_sort<std::int64_t>(random_keys<std::int64_t>(Type::i64, count, distinct, 7));
            expect_like_a_stable_sort<std::uint64_t>(
                random_keys<std::uint64_t>(Type::u64, count, distinct, 8));
        }
}

TEST(KeyOrder, BringsFloatsOfEqualBitsTogether)
{
    const auto keys = make_array<float>(
        Type::f32, {0.0F, kNan, -0.0F, 2.5F, 0.0F, -kInfinity, -0.0F, kNan, -3, kInfinity, -2});
    const auto places = sorted_places(keys);
    ASSERT_TRUE(places);
    const auto at = places->as<std::int32_t>();
    EXPECT_EQ(std::vector<std::int32_t>(at.begin(), at.end()),
              (std::vector<std::int32_t>{5, 8, 10, 2, 6, 0, 4, 3, 9, 1, 7}));
    EXPECT_EQ(count_distinct(keys), 8);
    EXPECT_EQ(count_distinct(make_array<double>(Type::f64, {0.0, -0.0, 0.0})), 2);
}

TEST(KeyOrder, LeavesSortedKeysAlone)
{
    EXPECT_FALSE(sorted_places(make_array<std::int64_t>(Type::i64, {-5, -5, 0, 3, 3})));
    EXPECT_FALSE(sorted_places(make_array<std::int64_t>(Type::i64, {})));
}

/// One key of many that comes back is found wherever its runs are.
TEST(KeyOrder, CountsOneKeyThatComesBack)
{
    constexpr int kKeys = 20000;
    std::vector<std::int64_t> keys(kKeys);
    for (std::int64_t i = 0; i < kKeys; ++i)
        keys[static_cast<std::size_t>(i)] = i * 7919 % kKeys * 1'000'003;
    EXPECT_EQ(count_distinct(Array::of<std::int64_t>(Type::i64, keys)), kKeys);
    for (const auto& [first, second] :
         std::vector<std::pair<int, int>>{{0, 1}, {0, kKeys - 1}, {777, 12345}}) {
        auto changed = keys;
        changed[static_cast<std::size_t>(second)] = changed[static_cast<std::size_t>(first)];
        EXPECT_EQ(count_distinct(Array::of<std::int64_t>(Type::i64, changed)), kKeys - 1) << first;
    }
    std::ranges::sort(keys);
    keys.back() = keys.front();
    EXPECT_EQ(count_distinct(Array::of<std::int64_t>(Type::i64, keys)), kKeys - 1);
}

TEST(KeyOrder, TakesNumbersAndRowsAndPutsThemBack)
{
    const auto keys = make_array<std::int32_t>(Type::i32, {3, 1, 2, 1});
    const auto places = *sorted_places(keys);
    auto halves = make_array<std::uint16_t>(Type::f16, {30, 10, 20, 11});
    const auto taken = taken_at(halves, places);
    EXPECT_EQ(to_vector<std::uint16_t>(taken), (std::vector<std::uint16_t>{10, 11, 20, 30}));
    auto rows = make_array<double>(Type::f64, {30, 31, 32, 10, 11, 12, 20, 21, 22, 13, 14, 15});
    rows.set_row_length(3);
    auto moved = taken_at(rows, places);
    EXPECT_EQ(to_vector<double>(moved),
              (std::vector<double>{10, 11, 12, 13, 14, 15, 20, 21, 22, 30, 31, 32}));
    put_back(moved, places);
    EXPECT_EQ(to_vector<double>(moved), to_vector<double>(rows));
}

TEST(KeyOrder, MovesAsManyEntriesAsThereArePlaces)
{
    const auto places = *sorted_places(make_array<std::int32_t>(Type::i32, {3, 1, 2, 1}));
    auto longer = make_array<std::int32_t>(Type::i32, {30, 10, 20, 11, 5, 5, 5, 5});
    EXPECT_THROW(put_back(longer, places), InternalError);
    EXPECT_EQ(to_vector<std::int32_t>(longer), (std::vector<std::int32_t>{30, 10, 20, 11, 5, 5, 5, 5}));
    longer.set_row_length(2);
    put_back(longer, places);
    EXPECT_EQ(to_vector<std::int32_t>(longer), (std::vector<std::int32_t>{5, 5, 30, 10, 5, 5, 20, 11}));
}

TEST(KeyOrder, SaysHowManyRunsHowManyKeys)
{
    EXPECT_EQ(text_of_returning_keys(5, 5, "sort"), "");
    EXPECT_EQ(text_of_returning_keys(5, 2, "sort first"),
              "keys come back: 5 runs of equal neighbours have 2 distinct keys, and each run is a segment of "
              "its own; sort first");
}

TEST(KeyOrder, MovesNothingWhosePlaceCounts)
{
    const auto refused = refusal([] {
        require_movable(parse_operator("t",
                                       "operator first(x: f32) -> i64 {\n  state p: i64 = highest(i64)\n"
                                       "  lift index\n  combine(a, b) min(a, b)\n}"),
                        "--sort-keys");
    });
    EXPECT_NE(refused.find("operator first reads 'index'"), std::string::npos) << refused;
    EXPECT_NO_THROW(require_movable(parse_operator("t",
                                                   "operator last(x: f32) -> i64 {\n  state p: i64 = -1\n"
                                                   "  lift position\n  combine(a, b) max(a, b)\n}"),
                                    "--sort-keys"));
}

}  // namespace
}  // namespace segfold::key_order_test
