// Streams as users of the package call them: from memory, from files, and generated while they are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "runtime/data/formats/npy.h"
#include "runtime/support/files/file.h"
#include "tests/common/files.h"
#include "tests/common/front_door.h"

namespace segfold::test::fold_stream_test {
namespace {

struct Numbers {
    std::vector<std::int64_t> values, offsets;
    std::vector<std::int64_t> sums;
};

Numbers numbers()
{
    Numbers all;
    all.values.resize(5000);
    std::iota(all.values.begin(), all.values.end(), -20);
    for (std::int64_t at = 0; at < 5000; at += 1 + at % 700)
        all.offsets.push_back(at);
    all.offsets.push_back(all.offsets.back());  // an empty segment
    all.offsets.push_back(5000);
    for (std::size_t s = 0; s + 1 < all.offsets.size(); ++s)
        all.sums.push_back(std::accumulate(all.values.begin() + all.offsets[s],
                                           all.values.begin() + all.offsets[s + 1], std::int64_t{0}));
    return all;
}

FoldStreamOptions within(std::int64_t bytes)
{
    FoldStreamOptions options;
    options.memory_bytes = bytes;
    return options;
}

/// Returns the sums of a stream, and expects each slice to follow the slice before.
std::vector<std::int64_t> sums_of(const StreamArray& values, const StreamSegments& segments,
                                  std::int64_t bytes, std::int64_t num_elements = 5000)
{
    auto session = session_on("cpu");
    std::vector<std::int64_t> sums;
    int slices = 0;
    auto options = within(bytes);
    options.progress = [&](const StreamedSoFar& so_far) {
        ++slices;
        EXPECT_LE(so_far.elements, num_elements);
    };
    const auto streamed =
        fold_stream(session, standard_operator("sum_i64"), {values}, segments, options,
                    [&](const Folded& results, std::int64_t first_segment) {
                        EXPECT_EQ(first_segment, std::ssize(sums));
                        EXPECT_EQ(results.num_segments(), std::ssize(results.values<std::int64_t>()));
                        for (const auto sum : results.values<std::int64_t>())
                            sums.push_back(sum);
                    });
    EXPECT_EQ(streamed.elements, num_elements);
    EXPECT_EQ(streamed.segments, std::ssize(sums));
    EXPECT_NE(streamed.plan, "");
    EXPECT_GE(slices, bytes < 20000 ? 2 : 1);
    return sums;
}

TEST(FoldStream, MemoryFilesAndWhatIsMadeGiveTheSame)
{
    const auto all = numbers();
    const ScratchFolder folder("fold_stream");
    const auto path = [&](const std::string& name, const std::vector<std::int64_t>& values) {
        const auto file = (folder.path() / name).string();
        write_npy(file, Array::borrow(Type::i64, values.data(), values.size()));
        return file;
    };
    const auto values_file = path("x.npy", all.values), offsets_file = path("offsets.npy", all.offsets);
    for (const std::int64_t bytes : {2000, 10000, 1 << 20}) {
        EXPECT_EQ(sums_of(all.values, offsets(all.offsets), bytes), all.sums) << bytes;
        EXPECT_EQ(sums_of(StreamArray::file(values_file),
                          {LayoutKind::offsets, StreamArray::file(offsets_file)}, bytes),
                  all.sums)
            << bytes;
        std::int64_t next = -20;
        const auto made = StreamArray::made<std::int64_t>(
            [&next](std::span<std::int64_t> into) {
                std::int64_t count = 0;
                while (count < std::ssize(into) && next < 4980)
                    into[static_cast<std::size_t>(count++)] = next++;
                return count;
            },
            5000);
        EXPECT_EQ(sums_of(made, offsets(all.offsets), bytes), all.sums) << bytes;
    }
    EXPECT_EQ(sums_of(all.values, whole(), 4000),
              (std::vector{std::accumulate(all.values.begin(), all.values.end(), std::int64_t{0})}));
    EXPECT_EQ(sums_of(all.values, uniform(2500), 4000).size(), 2U);
}

/// Generated arrays are read once and in order, offsets too, slice after slice.
TEST(FoldStream, RunsOfEmptySegmentsTakeAsManySlicesAsTheirResultsNeed)
{
    constexpr std::int64_t kEmpties = 100000;
    const std::vector<std::int64_t> values = {1, 2, 3, 4, 5, 6};
    for (const std::int64_t first : {0, 2, 6}) {  // number of elements before the empty segments
        std::vector<std::int64_t> bounds(kEmpties + 1, first), sums(kEmpties + 2, 0);
        bounds.insert(bounds.begin(), 0);
        bounds.push_back(6);
        sums.front() = first * (first + 1) / 2;
        sums.back() = 21 - sums.front();
        auto session = session_on("cpu");
        auto options = within(1 << 20);
        int slices = 0;
        options.progress = [&](const StreamedSoFar& /*so_far*/) { ++slices; };
        std::vector<std::int64_t> found;
        fold_stream(session, standard_operator("sum_i64"), {values}, offsets(bounds), options,
                    [&](const Folded& results, std::int64_t /*first_segment*/) {
                        const auto some = results.values<std::int64_t>();
                        found.insert(found.end(), some.begin(), some.end());
                    });
        EXPECT_EQ(found, sums);
        EXPECT_LE(slices, 10);  // an end and two results of 8 bytes each, for two slices at a time
    }
}

TEST(FoldStream, OffsetsAndLengthsMayBeMade)
{
    const auto all = numbers();
    std::vector<std::int64_t> lengths;
    for (std::size_t s = 0; s + 1 < all.offsets.size(); ++s)
        lengths.push_back(all.offsets[s + 1] - all.offsets[s]);
    const auto made = []<class T>(T, const std::vector<std::int64_t>& values) {
        auto next = values.begin();
        return StreamArray::made<T>(
            [&values, next](std::span<T> into) mutable {
                const auto count = std::min(std::ssize(into), values.end() - next);
                std::copy_n(next, count, into.begin());
                next += count;
                return static_cast<std::int64_t>(count);
            },
            std::ssize(values));
    };
    for (const std::int64_t bytes : {2000, 10000, 1 << 20}) {
        const auto sums_by = [&](LayoutKind kind, const StreamArray& array) {
            return sums_of(all.values, {kind, array}, bytes);
        };
        EXPECT_EQ(sums_by(LayoutKind::offsets, made(std::int64_t{}, all.offsets)), all.sums) << bytes;
        EXPECT_EQ(sums_by(LayoutKind::offsets, made(std::int32_t{}, all.offsets)), all.sums) << bytes;
        EXPECT_EQ(sums_by(LayoutKind::offsets, made(std::uint16_t{}, all.offsets)), all.sums) << bytes;
        EXPECT_EQ(sums_by(LayoutKind::lengths, made(std::int64_t{}, lengths)), all.sums) << bytes;
    }
}

TEST(FoldStream, KeysComeWithTheirSegments)
{
    auto session = session_on("cpu");
    const std::vector<int> keys = {4, 4, 4, 9, 9, 2, 2, 2, 2};
    std::vector<int> sums, found;
    fold_stream(session, standard_operator("sum_i32"), {kValues}, segfold::keys(keys), within(300),
                [&](const Folded& results, std::int64_t) {
                    sums.insert(sums.end(), results.values<int>().begin(), results.values<int>().end());
                    found.insert(found.end(), results.keys<int>().begin(), results.keys<int>().end());
                });
    EXPECT_EQ(sums, (std::vector{8, 6, 22}));
    EXPECT_EQ(found, (std::vector{4, 9, 2}));
}

TEST(FoldStream, ScalarsAreArraysOfOne)
{
    auto session = session_on("cpu");
    const float threshold[] = {4};
    const std::vector<float> values = {3, 1, 4, 1, 5, 9, 2, 6, 5};
    std::vector<std::int64_t> counts;
    fold_stream(session, standard_operator("count_above_f32"), {values, threshold}, uniform(3), within(300),
                [&](const Folded& results, std::int64_t) {
                    for (const auto count : results.values<std::int64_t>())
                        counts.push_back(count);
                });
    EXPECT_EQ(counts, (std::vector<std::int64_t>{0, 2, 2}));
}

TEST(FoldStream, WhatTakeThrowsComesOut)
{
    auto session = session_on("cpu");
    const auto all = numbers();
    int slices = 0;
    EXPECT_THROW(
        fold_stream(session, standard_operator("sum_i64"), {all.values}, offsets(all.offsets), within(2000),
                    [&](const Folded&, std::int64_t) {
                        if (++slices == 2)
                            throw std::runtime_error("enough");
                    }),
        std::runtime_error);
    EXPECT_EQ(slices, 2);
}

TEST(FoldStream, MisuseIsRefusedInWords)
{
    auto session = session_on("cpu");
    const auto op = standard_operator("sum_i32");
    const auto take = [](const Folded&, std::int64_t) {};
    const auto refusal = [&](const std::vector<StreamArray>& inputs, const StreamSegments& segments,
                             std::int64_t bytes = 1 << 20) {
        return message_of<InputError>(
            [&] { fold_stream(session, op, inputs, segments, within(bytes), take); });
    };
    EXPECT_NE(refusal({}, whole()).find("1 "), std::string::npos) << refusal({}, whole());
    EXPECT_NE(refusal({StreamArray::file("/no/such.npy")}, whole()).find("/no/such.npy"), std::string::npos);
    const std::vector<float> floats = {1, 2};
    EXPECT_NE(refusal({floats}, whole()).find("f32"), std::string::npos) << refusal({floats}, whole());
    EXPECT_NE(refusal({kValues}, whole(), 1), "") << "no room for a slice";
    const auto liar = StreamArray::made<int>([](std::span<int> into) { return std::ssize(into) + 1; });
    EXPECT_NE(refusal({liar}, whole()).find("it had room for"), std::string::npos);
    const auto none = [](std::span<int>) { return std::int64_t{0}; };
    EXPECT_EQ(refusal({StreamArray::made<int>(none, -5)}, whole()),
              "a stream's array has a length of -5; a length is not negative");
    EXPECT_NE(refusal({kValues}, {LayoutKind::offsets, StreamArray::made<int>(none)})
                  .find("does not say how many offsets there are"),
              std::string::npos);
    EXPECT_EQ(refusal({StreamArray::made<int>(nullptr)}, whole()),
              "a stream's array is made by no function: std::function<...> is empty");
    EXPECT_EQ(
        message_of<InputError>([&] { fold_stream(session, op, {kValues}, whole(), within(1000), nullptr); }),
        "a stream hands its results to a function, and the one given is empty");
    EXPECT_NE(refusal({rows_of(kValues, 3)}, whole()).find("rows of 3 features"), std::string::npos);
    auto moved = liar;
    [[maybe_unused]] const auto kept = std::move(moved);
    // NOLINTNEXTLINE(bugprone-use-after-move): what is tried
    EXPECT_NE(refusal({moved}, whole()).find("has been moved from"), std::string::npos);
    const std::vector<int> begins = {0}, ends = {2};
    EXPECT_EQ(message_of<InputError>([&] { StreamSegments{ranges(begins, ends)}; }),
              "a stream takes no segments by ranges; it takes whole, uniform, offsets, lengths, flags, keys "
              "and groups");
    EXPECT_EQ(message_of<InputError>([&] { StreamSegments(LayoutKind::whole, begins); }),
              "segments by whole are told by no single array; give offsets, lengths, flags, keys or groups");
    EXPECT_NE(message_of<InputError>([&] {
                  fold_stream(session, standard_operator("softmax_f32"), {floats}, whole(), within(1000),
                              take);
              }).find("Session::fold()"),
              std::string::npos);
}

}  // namespace
}  // namespace segfold::test::fold_stream_test
