// Folds and scans of elements whose groups come in any order, beside loops over the groups.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/session/core.h"
#include "tests/common/front_door.h"

namespace segfold::test::grouped_fold_test {
namespace {

using Maps = std::pair<std::uint32_t, std::uint32_t>;  // x -> scale x + shift

struct Elements {
    std::vector<std::int32_t> groups;
    std::vector<std::uint32_t> scale, shift;
};

Elements drawn(std::size_t count, std::int32_t num_groups, bool has_none, std::uint32_t seed)
{
    std::mt19937 random(seed);
    Elements made;
    for (std::size_t i = 0; i < count; ++i) {
        const auto group = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(num_groups));
        made.groups.push_back(has_none && random() % 5 == 0 ? -1 - group : group);
        made.scale.push_back(random() | 1U);
        made.shift.push_back(random());
    }
    return made;
}

class GroupedFold : public testing::TestWithParam<const char*> {};

/// Affine maps do not commute, so that any change of the order within a group shows.
TEST_P(GroupedFold, KeepsTheOrderOfElementsWithinAGroup)
{
    auto session = session_on(GetParam());
    const auto op = standard_operator("affine", Type::u32);
    for (const auto& [count, num_groups] :
         {std::pair{0, 3}, {1, 1}, {31, 4}, {1000, 1}, {1000, 7}, {4000, 900}})
        for (const bool has_none : {false, true}) {
            SCOPED_TRACE(testing::Message()
                         << count << " in " << num_groups << " groups, none: " << has_none);
            const auto made = drawn(static_cast<std::size_t>(count), num_groups, has_none, 11);
            std::vector<Maps> wanted(static_cast<std::size_t>(num_groups) + 1, {1U, 0U});
            std::vector<Maps> running(static_cast<std::size_t>(count));
            for (std::size_t i = 0; i < made.groups.size(); ++i) {
                if (made.groups[i] < 0)
                    continue;
                auto& map = wanted[static_cast<std::size_t>(made.groups[i])];
                map = {made.scale[i] * map.first, made.scale[i] * map.second + made.shift[i]};
                running[i] = map;
            }
            const auto by = groups(made.groups, num_groups + 1);
            const auto folded = session.fold(op, {made.scale, made.shift}, by);
            const auto scanned = session.scan(op, {made.scale, made.shift}, by);
            ASSERT_EQ(folded.num_segments(), num_groups + 1);
            for (std::size_t g = 0; g < wanted.size(); ++g) {
                ASSERT_EQ(folded.values<std::uint32_t>("scale")[g], wanted[g].first) << g;
                ASSERT_EQ(folded.values<std::uint32_t>("shift")[g], wanted[g].second) << g;
            }
            for (std::size_t i = 0; i < running.size(); ++i) {
                ASSERT_EQ(scanned.values<std::uint32_t>("scale")[i], running[i].first) << i;
                ASSERT_EQ(scanned.values<std::uint32_t>("shift")[i], running[i].second) << i;
            }
        }
}

TEST_P(GroupedFold, IndexIsWhereAnElementStands)
{
    auto session = session_on(GetParam());
    const std::vector<float> x = {3, 1, 9, 7, 7, 2, 3};
    const std::vector<std::int64_t> numbers = {2, 0, -1, 2, 0, 4, 2};
    const auto found = session.fold(standard_operator("argmax", Type::f32), {x}, groups(numbers, 5));
    const auto none = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(
        std::vector(found.values<std::int64_t>("index").begin(), found.values<std::int64_t>("index").end()),
        (std::vector<std::int64_t>{4, none, 3, none, 5}));
    EXPECT_EQ(found.warnings(), std::vector<std::string>());
}

/// Results of elements stand where the elements do, also in rows, and are 0 for those of no group.
TEST_P(GroupedFold, WritesBackToEachElement)
{
    auto session = session_on(GetParam());
    const auto op = parse_operator(
        "centre.seg",
        "operator centre(x: row i32, w: i32) -> (s: i32, each y: i32) {\n  state s: i32 = 0\n  lift x * w\n"
        "  combine(a, b) a + b\n  map { y = x - s }\n}");
    const std::vector<std::int32_t> x = {1, 10, 2, 20, 3, 30, 4, 40}, w = {1, 2, 3, 4};
    const std::vector<std::uint8_t> numbers = {1, 0, 1, 0};
    std::vector<std::int32_t> s(4), y(8);
    FoldOptions options;
    options.results = {s, y};
    const auto folded = session.fold(op, {rows_of(x, 2), w}, groups(numbers, 2), options);
    EXPECT_EQ(s, (std::vector<std::int32_t>{20, 200, 10, 100}));
    EXPECT_EQ(y, (std::vector<std::int32_t>{1 - 10, 10 - 100, 2 - 20, 20 - 200, 3 - 10, 30 - 100, 4 - 20,
                                            40 - 200}));
    const std::vector<std::int16_t> some = {1, -1, 1, -1};
    const auto less = session.fold(op, {rows_of(x, 2), w}, groups(some, 2));
    EXPECT_EQ(std::vector(less.values<std::int32_t>("y").begin(), less.values<std::int32_t>("y").end()),
              (std::vector<std::int32_t>{-9, -90, 0, 0, -7, -70, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Backends, GroupedFold, testing::Values("cpu", "simt", "reference"),
                         [](const auto& info) { return std::string(info.param); });

/// Kernels fold the elements as they lie, and a check compares with sorted ones; more than they take are
/// sorted first.
TEST(GroupedKernels, FoldElementsAsTheyLie)
{
    auto session = session_on("simt");
    const auto sum = standard_operator("sum", Type::i32);
    const std::vector<std::int32_t> x = {5, 6, 7, 8};
    const std::vector<std::int64_t> numbers = {2, -1, 2, 0};
    FoldOptions options;
    options.check = true;
    const auto values = [](const Folded& folded) {
        const auto sums = folded.values<std::int32_t>();
        return std::vector(sums.begin(), sums.end());
    };
    const auto folded = session.fold(sum, {x}, groups(numbers, 4), options);
    EXPECT_EQ(values(folded), (std::vector<std::int32_t>{8, 0, 12, 0}));
    EXPECT_TRUE(folded.agrees());
    EXPECT_NE(folded.plan().find("group_tables"), std::string::npos) << folded.plan();
    EXPECT_EQ(values(session.fold(sum, {x}, groups(numbers))), (std::vector<std::int32_t>{8, 0, 12}));
    options.check = false;
    options.plan.stage = "group_parts";
    const auto moved = session.fold(sum, {x}, groups(numbers, 4), options);
    EXPECT_EQ(values(moved), (std::vector<std::int32_t>{8, 0, 12, 0}));
    EXPECT_NE(moved.plan().find("group_parts"), std::string::npos) << moved.plan();
    options.plan.stage = "tile_scan";
    EXPECT_NE(session.fold(sum, {x}, groups(numbers, 4), options).plan().find("tile_scan"),
              std::string::npos);
}

TEST(GroupedKernels, ServePlans)
{
    auto session = session_on("simt");
    const auto sum = standard_operator("sum", Type::i32);
    const std::vector<std::int32_t> x = {5, 6, 7, 8, 9};
    const std::vector<std::int16_t> numbers = {2, -1, 2, 0, 1};
    auto plan = session.plan(sum, groups(numbers, 3), 5);
    EXPECT_EQ(plan.stage(), "group_tables");
    std::vector<std::int32_t> sums(3);
    plan.run({x}, groups(numbers, 3), {sums});
    EXPECT_EQ(sums, (std::vector<std::int32_t>{8, 9, 12}));
    const std::vector<std::int32_t> more = {1, 2, 3, 4, 5, 6};
    const std::vector<std::int16_t> others = {0, 1, 0, 1, 0, 1};
    plan.resize(groups(others, 3), 6);
    plan.run({more}, groups(others, 3), {sums});
    EXPECT_EQ(sums, (std::vector<std::int32_t>{9, 12, 0}));

    EXPECT_EQ(
        message_of([&] { plan.resize(groups(others, 4), 6); }),
        "the plan of sum is for 3 groups by numbers of i16, and resize() is given 4 groups by numbers of "
        "i16; it takes other numbers of elements, so make another plan");
    EXPECT_EQ(message_of([&] { (void)session.plan(sum, groups(numbers), 5); }),
              "a plan of groups needs their number, 0 or more: groups(numbers, num_groups)");
    EXPECT_EQ(message_of([&] { (void)session.plan(sum, groups(x, 3), 4); }),
              "5 numbers of groups for 4 elements; one for each is needed");
    EXPECT_EQ(
        message_of([&] { (void)session.plan(sum, groups(numbers, std::int64_t{1} << 40), 5); }),
        "no kernel folds 1099511627776 groups of operator sum as they lie; calls sort the elements, and "
        "plans take them sorted, with offsets");
}

/// A plan cannot sort, so it takes the kernel whatever its rank, in each width of numbers.
TEST(GroupedKernels, ServePlansOfTheHost)
{
    auto session = session_on("cpu");
    if (core(session).backend().interprets())
        GTEST_SKIP() << core(session).backend().note();
    const auto op = standard_operator("affine", Type::u32);
    for (const std::size_t count : {0U, 1U, 1000U, 70000U}) {
        const auto made = drawn(count, 90, true, 5);
        std::vector<Maps> wanted(91, {1U, 0U});
        for (std::size_t i = 0; i < count; ++i)
            if (made.groups[i] >= 0) {
                auto& map = wanted[static_cast<std::size_t>(made.groups[i])];
                map = {made.scale[i] * map.first, made.scale[i] * map.second + made.shift[i]};
            }
        const auto serve = [&]<class Number>(Number) {
            const std::vector<Number> numbers(made.groups.begin(), made.groups.end());
            auto plan = session.plan(op, groups(numbers, 91), static_cast<std::int64_t>(count));
            EXPECT_EQ(plan.stage(), "group_shares");
            std::vector<std::uint32_t> scale(91, 7), shift(91, 7);
            for (const auto& by : {groups(numbers, 91), groups(numbers)})  // a run may leave the number out
                plan.run({made.scale, made.shift}, by, {scale, shift});
            for (std::size_t g = 0; g < wanted.size(); ++g)
                ASSERT_EQ((Maps{scale[g], shift[g]}), wanted[g]) << g << " of " << count;
        };
        serve(std::int8_t{});
        serve(std::int32_t{});
        serve(std::int64_t{});
    }
    const auto sum = standard_operator("sum", Type::i32);
    const std::vector<std::int32_t> x = {5, 6, 7}, numbers = {1, 0, 3};
    std::vector<std::int32_t> sums(2);
    auto plan = session.plan(sum, groups(numbers, 2), 3);
    EXPECT_EQ(
        message_of([&] { plan.run({x}, groups(numbers, 2), {sums}); }),
        "the number of the group of element 2 is 3, and there are 2 groups: numbers go from 0 to 1, and a "
        "negative one means no group");
    EXPECT_EQ(
        message_of([&] { (void)session.plan(standard_operator("softmax", Type::f32), groups(x, 9), 3); }),
        "no kernel folds 9 groups of operator softmax as they lie; calls sort the elements, and plans "
        "take them sorted, with offsets");
    PlanOptions asked;
    asked.request.stage = "lane_scan";
    EXPECT_NE(
        message_of([&] { (void)session.plan(sum, groups(numbers, 4), 3, asked); }).find("not as groups"),
        std::string::npos);
    const std::vector<std::uint64_t> wide = {0, std::uint64_t{1} << 63, 1};
    EXPECT_NE(message_of([&] { (void)session.fold(sum, {x}, groups(wide, 3)); }).find("there are 3 groups"),
              std::string::npos);
    const auto huge = message_of([&] { (void)session.plan(sum, groups(numbers, std::int64_t{1} << 38), 3); });
    EXPECT_NE(huge.find("scratch memory for 274877906944 segments"), std::string::npos) << huge;
}

/// Keys in any order: the distinct ones are the groups, ascending or as they first stand.
TEST_P(GroupedFold, ByKeysGivesTheKeyOfEachGroup)
{
    auto session = session_on(GetParam());
    const auto made = drawn(2000, 50, false, 21);
    const auto op = standard_operator("affine", Type::u32);
    std::map<std::int32_t, Maps> wanted;
    std::vector<std::int32_t> firsts;
    for (std::size_t i = 0; i < made.groups.size(); ++i) {
        const auto [place, is_new] = wanted.try_emplace(made.groups[i], 1U, 0U);
        if (is_new)
            firsts.push_back(made.groups[i]);
        place->second = {made.scale[i] * place->second.first,
                         made.scale[i] * place->second.second + made.shift[i]};
    }
    for (const auto order : {KeyOrder::ascending, KeyOrder::first}) {
        const auto folded = session.fold(op, {made.scale, made.shift}, by(made.groups, order));
        const auto keys = folded.keys<std::int32_t>();
        ASSERT_EQ(keys.size(), wanted.size());
        if (order == KeyOrder::first)
            EXPECT_TRUE(std::ranges::equal(keys, firsts));
        else
            EXPECT_TRUE(std::ranges::is_sorted(keys));
        for (std::size_t g = 0; g < keys.size(); ++g)
            ASSERT_EQ(folded.values<std::uint32_t>("shift")[g], wanted[keys[g]].second) << keys[g];
    }
}

/// The host folds many elements of few groups as they lie: the numbers and keys tell the same.
TEST(GroupedKernels, FoldManyElementsOnTheHost)
{
    auto session = session_on("cpu");
    if (core(session).backend().interprets())
        GTEST_SKIP() << core(session).backend().note();
    const auto op = standard_operator("affine", Type::u32);
    const auto made = drawn(400000, 90, true, 3);
    std::map<std::int32_t, Maps> wanted;
    for (std::size_t i = 0; i < made.groups.size(); ++i) {
        auto& map = wanted.try_emplace(made.groups[i], 1U, 0U).first->second;
        map = {made.scale[i] * map.first, made.scale[i] * map.second + made.shift[i]};
    }
    FoldOptions options;
    options.check = true;
    const auto folded = session.fold(op, {made.scale, made.shift}, groups(made.groups, 91), options);
    EXPECT_NE(folded.plan().find("group_shares"), std::string::npos) << folded.plan();
    EXPECT_TRUE(folded.agrees());
    for (std::size_t g = 0; g < 90; ++g)
        ASSERT_EQ(folded.values<std::uint32_t>("shift")[g], wanted[static_cast<std::int32_t>(g)].second) << g;
    EXPECT_EQ(folded.values<std::uint32_t>("scale")[90], 1U);
    std::vector<double> scattered;  // keys that no small range holds
    for (const auto group : made.groups)
        scattered.push_back(group * 1e9);
    for (const auto order : {KeyOrder::ascending, KeyOrder::first}) {
        const auto by_numbers = session.fold(op, {made.scale, made.shift}, by(made.groups, order));
        const auto by_keys = session.fold(op, {made.scale, made.shift}, by(scattered, order));
        for (const auto* one : {&by_numbers, &by_keys})
            EXPECT_NE(one->plan().find("group_shares"), std::string::npos) << one->plan();
        const auto keys = by_numbers.keys<std::int32_t>();
        ASSERT_EQ(keys.size(), wanted.size());
        EXPECT_EQ(keys.front(), order == KeyOrder::first ? made.groups.front() : wanted.begin()->first);
        for (std::size_t g = 0; g < keys.size(); ++g) {
            ASSERT_EQ(by_numbers.values<std::uint32_t>("shift")[g], wanted[keys[g]].second) << keys[g];
            ASSERT_EQ(by_keys.values<std::uint32_t>("shift")[g], wanted[keys[g]].second) << keys[g];
            ASSERT_EQ(by_keys.keys<double>()[g], keys[g] * 1e9);
        }
    }
}

/// A read outside of a table names the element as it stands, sorted or not.
TEST(GroupedKernels, NameTheElementThatReadsOutsideOfATable)
{
    auto session = session_on("cpu");
    const auto op = parse_operator("taken.seg",
                                   "operator taken(k: i32, t: table i32) -> i32 {\n  state s: i32 = 0\n"
                                   "  lift t[k]\n  combine(a, b) a + b\n}");
    const std::vector<std::int32_t> table(100, 1);
    for (const std::size_t count : {5000U, 300000U}) {
        std::vector<std::int32_t> places(count), numbers(count);
        for (std::size_t i = 0; i < count; ++i)
            numbers[i] = static_cast<std::int32_t>(i % 7) - 1;
        places[770] = places[777] = 100;  // both of no group: nothing reads these
        places[779] = places[790] = 100;
        const auto message = message_of([&] { (void)session.fold(op, {places, table}, groups(numbers, 6)); });
        EXPECT_NE(message.find("element 779"), std::string::npos) << message;
    }
}

TEST(GroupedKernels, ReadKeysBeforeResultsAreWritten)
{
    auto session = session_on("cpu");
    std::vector<std::int32_t> keys;
    for (int i = 0; i < 300000; ++i)
        keys.push_back(40 + i % 3);
    const auto x = keys;
    FoldOptions options;
    options.results = {keys};
    const auto folded = session.fold(standard_operator("max", Type::i32), {x}, by(keys), options);
    const auto found = folded.keys<std::int32_t>();
    EXPECT_EQ(std::vector(found.begin(), found.end()), (std::vector<std::int32_t>{40, 41, 42}));
}

/// Columns may receive results: they are read before.
TEST(GroupedFoldCall, MayWriteIntoItsInput)
{
    auto session = session_on("cpu");
    std::vector<std::int32_t> x = {5, 6, 7, 8};
    const std::vector<std::int32_t> numbers = {1, 0, 1, 0};
    ScanOptions options;
    options.fold.results = {x};
    (void)session.scan(standard_operator("sum", Type::i32), {x}, groups(numbers), options);
    EXPECT_EQ(x, (std::vector<std::int32_t>{5, 6, 12, 14}));
}

TEST(GroupedFoldCall, SlicesAndChecksAgree)
{
    auto session = session_on("cpu");
    const auto made = drawn(3000, 20, true, 5);
    FoldOptions options;
    options.check = true;
    options.num_slices = 7;
    const auto folded = session.fold(standard_operator("affine", Type::u32), {made.scale, made.shift},
                                     groups(made.groups, 20));
    const auto sliced = session.fold(standard_operator("affine", Type::u32), {made.scale, made.shift},
                                     groups(made.groups, 20), options);
    EXPECT_TRUE(sliced.agrees());
    EXPECT_FALSE(sliced.check().empty());
    EXPECT_TRUE(
        std::ranges::equal(folded.values<std::uint32_t>("shift"), sliced.values<std::uint32_t>("shift")));
}

/// Tables of states fold so many elements, and report the number; results stay as they were.
TEST(GroupedFoldCall, AWrongNumberAmongManyIsNamed)
{
    auto session = session_on("cpu");
    std::vector<std::int32_t> x(300000, 1), numbers(x.size(), 1), sums(2, 77);
    numbers[299998] = 2;
    FoldOptions options;
    options.results = {sums};
    const auto fold = [&] {
        return session.fold(standard_operator("sum", Type::i32), {x}, groups(numbers, 2), options);
    };
    EXPECT_EQ(
        message_of(fold),
        "the number of the group of element 299998 is 2, and there are 2 groups: numbers go from 0 to 1, "
        "and a negative one means no group");
    EXPECT_EQ(sums, (std::vector<std::int32_t>{77, 77}));
    numbers[299998] = -1;
    EXPECT_NE(fold().plan().find("group_shares"), std::string::npos);
    EXPECT_EQ(sums, (std::vector<std::int32_t>{0, 299999}));
}

TEST(GroupedFoldCall, WrongOnesAreRefused)
{
    auto session = session_on("cpu");
    const std::vector<std::int32_t> x = {5, 6, 7}, numbers = {1, 0, 3}, few = {1, 0};
    const auto sum = standard_operator("sum", Type::i32);
    const auto fold = [&](const Operator& op, const SegmentsView& by) {
        return message_of([&] { return session.fold(op, {x}, by); });
    };
    EXPECT_EQ(
        fold(sum, groups(numbers, 2)),
        "the number of the group of element 2 is 3, and there are 2 groups: numbers go from 0 to 1, and a "
        "negative one means no group");
    EXPECT_EQ(message_of([&] { return session.fold(sum, {}, groups(few, 2)); }),
              "operator sum takes 1 array (x), and 0 are given");
    EXPECT_EQ(message_of([&] { return session.fold(sum, {x}, groups(few, std::int64_t{1} << 58)); }),
              "the numbers of groups are 2 for 3 elements; each element has one");
    EXPECT_EQ(fold(sum, groups(few, 2)), "the numbers of groups are 2 for 3 elements; each element has one");
    EXPECT_EQ(fold(sum, groups(ArrayView{Type::i32, nullptr, 3}, 2)),
              message_of([&] {
                  return session.fold(sum, {x}, keys(ArrayView{Type::i32, nullptr, 3}));
              }).replace(0, 8, "the numbers of groups"));
    EXPECT_NE(fold(parse_operator("least.seg",
                                  "operator least(x: i32) -> i32 {\n  state m: i32\n  lift x\n"
                                  "  combine(a, b) min(a, b)\n}"),
                   groups(numbers, 4))
                  .find("segment 2 is empty"),
              std::string::npos);
}

}  // namespace
}  // namespace segfold::test::grouped_fold_test
