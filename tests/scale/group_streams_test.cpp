// Groups in any order of streams: a state for each group, joined slice after slice, beside loops over the
// groups.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>

#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/formats/npy.h"
#include "runtime/scale/fold_stream.h"
#include "runtime/scale/group_totals.h"
#include "runtime/scale/stream_output.h"
#include "tests/common/files.h"
#include "tests/common/front_door.h"

namespace segfold::test::group_streams_test {
namespace {

struct Elements {
    std::vector<std::int16_t> groups;
    std::vector<std::uint32_t> scale, shift;
};

Elements drawn(std::size_t count, int num_groups)
{
    std::mt19937 random(31);
    Elements made;
    for (std::size_t i = 0; i < count; ++i) {
        made.groups.push_back(static_cast<std::int16_t>(static_cast<int>(random() % (num_groups + 1U)) - 1));
        made.scale.push_back(random() | 1U);
        made.shift.push_back(random());
    }
    return made;
}

FoldStreamOptions within(std::int64_t bytes)
{
    FoldStreamOptions options;
    options.memory_bytes = bytes;
    return options;
}

class GroupStreams : public testing::TestWithParam<const char*> {};

/// Affine maps do not commute, so that any change of the order within a group shows.
TEST_P(GroupStreams, KeepTheOrderOfElements)
{
    auto session = session_on(GetParam());
    const auto op = standard_operator("affine", Type::u32);
    for (const std::size_t count : {0U, 1U, 999U, 5000U}) {
        const auto made = drawn(count, 30);
        std::vector<std::uint32_t> scale(33, 1), shift(33, 0);
        for (std::size_t i = 0; i < count; ++i)
            if (made.groups[i] >= 0) {
                const auto g = static_cast<std::size_t>(made.groups[i]);
                scale[g] *= made.scale[i];
                shift[g] = made.scale[i] * shift[g] + made.shift[i];
            }
        for (const std::int64_t bytes : {500, 20000, 1 << 30}) {
            int calls = 0, slices = 0;
            auto options = within(bytes);
            options.progress = [&](const StreamedSoFar&) { ++slices; };
            const auto streamed = fold_stream(
                session, op, {made.scale, made.shift}, groups(made.groups, 33), options,
                [&](const Folded& results, std::int64_t first_segment) {
                    ++calls;
                    EXPECT_EQ(first_segment, 0);
                    EXPECT_TRUE(std::ranges::equal(results.values<std::uint32_t>("scale"), scale));
                    EXPECT_TRUE(std::ranges::equal(results.values<std::uint32_t>("shift"), shift));
                });
            EXPECT_EQ(calls, 1);
            EXPECT_EQ(streamed.elements, std::ssize(made.groups));
            EXPECT_EQ(streamed.segments, 33);
            if (count == 5000 && bytes == 500) {
                EXPECT_GT(slices, 100);
            }
        }
    }
}

/// Lift reads where an element stands in the whole input and in its group, and the number of the group.
TEST_P(GroupStreams, PlacesCountInTheWholeInput)
{
    auto session = session_on(GetParam());
    const auto op =
        parse_operator("places.seg",
                       "operator places(x: i64, t: table i64) -> (sum: i64, length: i64, group: i64) {\n"
                       "  state s: i64 = 0\n"
                       "  lift x * 1000003 + index * 10007 + position * 101 + segment * t[0]\n"
                       "  combine(a, b) a + b\n"
                       "  finish { sum = s; length = length; group = segment }\n"
                       "}\n");
    std::vector<std::int64_t> x(700), sums(9), lengths(9), table = {13};
    std::vector<std::uint8_t> numbers(700);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<std::int64_t>(i * i % 97);
        numbers[i] = static_cast<std::uint8_t>(i * 7 % 8);
        const auto g = numbers[i];
        sums[g] += x[i] * 1000003 + static_cast<std::int64_t>(i) * 10007 + lengths[g]++ * 101 + g * 13;
    }
    int calls = 0;
    fold_stream(session, op, {x, table}, groups(numbers, 9), within(3000),
                [&](const Folded& results, std::int64_t) {
                    ++calls;
                    EXPECT_TRUE(std::ranges::equal(results.values<std::int64_t>("sum"), sums));
                    EXPECT_TRUE(std::ranges::equal(results.values<std::int64_t>("length"), lengths));
                    EXPECT_EQ(results.values<std::int64_t>("group")[8], 8);
                });
    EXPECT_EQ(calls, 1);
}

/// Keys are equal if their bits are; they come back by their bits, or as they first stand.
TEST_P(GroupStreams, KeysInAnyOrder)
{
    auto session = session_on(GetParam());
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> keys = {2, -0.0F, nan, 0, 2, -7, nan, -0.0F};
    const std::vector<std::int32_t> x = {1, 2, 4, 8, 16, 32, 64, 128};
    const auto sums_by = [&](KeyOrder order) {
        std::vector<std::int32_t> sums;
        std::vector<float> found;
        fold_stream(session, standard_operator("sum", Type::i32), {x}, by(keys, order), within(200),
                    [&](const Folded& results, std::int64_t) {
                        std::ranges::copy(results.values<std::int32_t>(), std::back_inserter(sums));
                        std::ranges::copy(results.keys<float>(), std::back_inserter(found));
                    });
        EXPECT_EQ(found.size(), sums.size());
        if (found.size() != 5)
            return std::vector<std::int32_t>();
        EXPECT_TRUE(std::isnan(found[order == KeyOrder::first ? 2 : 4]));
        return sums;
    };
    EXPECT_EQ(sums_by(KeyOrder::ascending), (std::vector<std::int32_t>{32, 130, 8, 17, 68}));
    EXPECT_EQ(sums_by(KeyOrder::first), (std::vector<std::int32_t>{17, 130, 68, 8, 32}));
}

INSTANTIATE_TEST_SUITE_P(Backends, GroupStreams, testing::Values("cpu", "simt", "reference"),
                         [](const auto& info) { return std::string(info.param); });

TEST(GroupStreamCall, ReadsFilesAndWhatIsMade)
{
    const TemporaryFolder folder;
    auto session = session_on("cpu");
    const auto made = drawn(3000, 5);
    std::vector<std::uint32_t> wanted(5);
    for (std::size_t i = 0; i < made.groups.size(); ++i)
        if (made.groups[i] >= 0)
            wanted[static_cast<std::size_t>(made.groups[i])] += made.shift[i];
    write_npy(folder.file("groups.npy"), Array::of<std::int16_t>(Type::i16, made.groups));
    std::size_t next = 0;
    const auto values = StreamArray::made<std::uint32_t>([&](std::span<std::uint32_t> into) {
        const auto count = std::min(into.size(), made.shift.size() - next);
        std::copy_n(made.shift.begin() + static_cast<std::ptrdiff_t>(next), count, into.begin());
        next += count;
        return static_cast<std::int64_t>(count);
    });
    const StreamSegments segments(LayoutKind::groups, StreamArray::file(folder.file("groups.npy")));
    int calls = 0;
    fold_stream(session, standard_operator("sum", Type::u32), {values}, segments, within(2000),
                [&](const Folded& results, std::int64_t) {
                    ++calls;
                    EXPECT_TRUE(std::ranges::equal(results.values<std::uint32_t>(), wanted));
                });
    EXPECT_EQ(calls, 1);
}

/// A run that is killed after some slices, or beside the results, goes on from its files.
TEST(GroupStreamCall, GoesOnWhereItStopped)
{
    const TemporaryFolder folder;
    auto session = session_on("reference");
    const auto op = standard_operator("affine", Type::u32);
    const auto made = drawn(600, 5);
    const auto input = [&] {
        StreamInput all;
        all.parameters.push_back(memory_source(Array::of<std::uint32_t>(Type::u32, made.scale)));
        all.parameters.push_back(memory_source(Array::of<std::uint32_t>(Type::u32, made.shift)));
        all.segments.kind = LayoutKind::groups;
        all.segments.array = memory_source(Array::of<std::int16_t>(Type::i16, made.groups));
        return all;
    };
    const auto out = folder.file("out.npz");
    struct Killed {};
    int run = 0;
    for (bool is_complete = false; !is_complete; ++run) {
        ASSERT_LT(run, 200);
        StreamOptions options;
        options.memory_bytes = 3000;
        options.keeps_states = true;
        Stream stream(session, op, input(), options);
        StreamOutput output(op, out, {}, stream.fingerprint());
        if (const auto state = output.resume())
            stream.go_to(*state);
        try {
            int slices = 0;
            stream.run([&](StreamResults&& results, const StreamState& state) {
                output.take(results, state);
                if (++slices == 2 || (results.num_segments != 0 && run < 30))
                    throw Killed();
            });
            output.commit();
            is_complete = true;
        } catch (const Killed&) {
            EXPECT_FALSE(std::filesystem::exists(out));
        }
    }
    EXPECT_GT(run, 10);
    const auto right = session.fold(op, {made.scale, made.shift}, groups(made.groups));
    for (const auto& [name, array] : right.results()) {
        const auto written = read_array(out + ":" + name);
        ASSERT_EQ(written.bytes(), array.bytes());
        EXPECT_EQ(std::memcmp(written.data(), array.data(), array.bytes()), 0) << name;
    }
}

TEST(GroupStreamCall, WrongOnesAreRefused)
{
    auto session = session_on("cpu");
    const std::vector<std::int32_t> x = {5, 6, 7}, numbers = {1, 0, 3}, few = {1, 0};
    const auto refusal = [&](const Operator& op, const StreamSegments& segments) {
        return message_of<InputError>([&] {
            fold_stream(session, op, {x}, segments, within(1000), [](const Folded&, std::int64_t) {});
        });
    };
    const auto sum = standard_operator("sum", Type::i32);
    EXPECT_EQ(
        refusal(sum, groups(numbers, 2)),
        "in elements 0 to 3, counted from 0: the number of the group of element 2 is 3, and there are 2 "
        "groups: numbers go from 0 to 1, and a negative one means no group");
    EXPECT_NE(refusal(sum, groups(few, 2)).find("'groups' has 2 elements, but"), std::string::npos);
    EXPECT_NE(refusal(sum, groups(numbers, 0)).find("only a negative number, which means no group, is right"),
              std::string::npos);
    EXPECT_EQ(refusal(sum, groups(numbers, -1)), "the number of groups is -1; it is 0 or more");
    EXPECT_NE(
        refusal(sum, groups(numbers, std::int64_t{1} << 50)).find("states of 1125899906842624 groups need"),
        std::string::npos);
    const std::vector<std::int64_t> wild = {0, std::int64_t{1} << 60, 1};
    EXPECT_NE(refusal(sum, groups(wild)).find("of memory, and"), std::string::npos);
    const std::vector<std::uint64_t> wildest = {0, std::numeric_limits<std::uint64_t>::max(), 1};
    EXPECT_NE(refusal(sum, groups(wildest)).find("element 1 is 18446744073709551615"), std::string::npos);
}

/// A fold goes on from the bytes of a partial, partials of parts are joined in their order, and damaged or
/// foreign bytes are refused.
TEST(GroupPartial, TravelsAsBytes)
{
    auto session = session_on("cpu");
    const auto op = standard_operator("affine", Type::u32);
    const auto fold = [&](const Operator& part, std::span<const ArrayView> inputs,
                          const SegmentsView& segments) { return session.fold(part, inputs, segments); };
    const auto made = drawn(400, 6);
    const auto part = [&](std::size_t begin, std::size_t end, GroupTotals& totals) {
        const auto of = [&](Type type, const auto& values) {
            return Array::borrow(type, &values[begin], end - begin);
        };
        const std::vector<Array> columns = [&] {
            std::vector<Array> both;
            both.push_back(of(Type::u32, made.scale));
            both.push_back(of(Type::u32, made.shift));
            return both;
        }();
        (void)totals.add(columns, of(Type::i16, made.groups), static_cast<std::int64_t>(begin));
    };
    for (const StreamGroups& kind : {StreamGroups{7, {}}, {{}, {}}, {{}, KeyOrder::ascending}}) {
        GroupTotals whole(op, kind, Type::i16, fold), first(op, kind, Type::i16, fold),
            second(op, kind, Type::i16, fold), alone(op, kind, Type::i16, fold);
        part(0, 400, whole);
        part(0, 150, first);
        const auto bytes = first.sum().to_bytes();
        second.go_on_from(GroupPartial::from_bytes(second.joining(), bytes));
        EXPECT_EQ(second.sum().to_bytes(), bytes);
        part(150, 400, second);
        part(150, 400, alone);
        auto joined = first.take_sum();
        joined += alone.sum();
        const auto wanted = whole.results();
        for (const auto& found : {second.results(), joined.results()}) {
            EXPECT_EQ(found.lengths, wanted.lengths);
            for (std::size_t f = 0; f < 2; ++f)
                EXPECT_TRUE(std::ranges::equal(found.results[f].array.as<std::uint32_t>(),
                                               wanted.results[f].array.as<std::uint32_t>()));
        }
        const auto refusal = [&](std::span<const std::byte> given) {
            return message_of<InputError>([&] { (void)GroupPartial::from_bytes(whole.joining(), given); });
        };
        for (std::size_t at = 0; at < bytes.size(); at += 5) {
            auto damaged = bytes;
            damaged[at] ^= std::byte{4};
            EXPECT_NE(refusal(damaged), "") << at;
            EXPECT_NE(refusal(std::span(bytes).first(at)), "") << at;
        }
        const GroupTotals other(standard_operator("sum", Type::i32), kind, Type::i16, fold);
        EXPECT_EQ(message_of<InputError>([&] { (void)GroupPartial::from_bytes(other.joining(), bytes); }),
                  "the bytes of totals of groups are of another operator or of other groups");
    }
}

}  // namespace
}  // namespace segfold::test::group_streams_test
