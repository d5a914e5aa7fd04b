// What messages of the C++ library's calls advise is taken: the same call, with the advice followed.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backends/backend.h"
#include "tests/common/front_door.h"

namespace segfold::test::call_advice_test {
namespace {

using Call = std::function<void()>;

/// The message of `wrong` has this advice, and `right`, which follows it, throws nothing.
void follows(const std::string& advice, const Call& wrong, const Call& right)
{
    const auto message = message_of<Error>(wrong);
    EXPECT_NE(message.find(advice), std::string::npos) << message;
    EXPECT_NO_THROW(right()) << advice;
}

const std::vector<float> kReals = {3, 1, 4, 1, 5, 9, 2, 6};

/// A fold of the array in a stream.
void stream(Session& session, const Operator& op, const StreamArray& values, const StreamSegments& segments)
{
    (void)fold_stream(session, op, {values}, segments, {}, [](const Folded&, std::int64_t) {});
}

/// So many ones that a function makes; `length` tells a stream how many there will be.
StreamArray made(std::int64_t count, std::optional<std::int64_t> length = {})
{
    const auto left = std::make_shared<std::int64_t>(count);
    return StreamArray::made<int>(
        [left](std::span<int> into) {
            const auto now = std::min(*left, static_cast<std::int64_t>(into.size()));
            std::fill_n(into.begin(), now, 1);
            *left -= now;
            return now;
        },
        length);
}

class CallAdvice : public testing::Test {
protected:
    Session session_ = session_on("cpu");
    const Operator sum_ = standard_operator("sum_i32");
    const Operator mean_ = parse_operator("centred", R"(operator centred(x: i32) -> each i32 {
        state sum: i32 = 0
        lift x
        combine(a, b) a + b
        map x - sum
    })");
    const Operator rows_ = parse_operator(
        "rows", "operator rows(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }");
};

TEST_F(CallAdvice, OnArrays)
{
    const ArrayView on_device(Type::i32, kValues.data(), 9, Place::device);
    follows(
        "'x' lie on a device; fold takes arrays of the host: make a plan for those of a device",
        [&] { (void)session_.fold(sum_, {on_device}, whole()); },
        [&] { (void)session_.plan(sum_, whole(), 9); });
    follows(
        "give an array of i32, or write the operator for f32",
        [&] { (void)session_.fold(sum_, {kReals}, whole()); },
        [&] { (void)session_.fold(standard_operator("sum_f32"), {kReals}, whole()); });
    const auto scaled = parse_operator("scaled",
                                       "operator scaled(x: f32, by: scalar f32) -> f32 { "
                                       "state s: f32 = 0 lift x * by combine(a, b) a + b }");
    const std::vector<float> one = {2};
    follows(
        "scalar 'by' has 8 values; give it one",
        [&] {
            (void)session_.fold(scaled, {kReals, kReals}, whole());
        },
        [&] {
            (void)session_.fold(scaled, {kReals, one}, whole());
        });
    std::vector<int> sums(4);
    const auto extremes = parse_operator("extremes", R"(operator extremes(x: i32) -> (low: i32, high: i32) {
        state { low: i32 = highest(i32); high: i32 = lowest(i32) }
        lift { low = x; high = x }
        combine(a, b) { low = min(a.low, b.low); high = max(a.high, b.high) }
    })");
    std::vector<int> others(4);
    follows(
        "lend each array that is written memory of its own",
        [&] {
            (void)session_.fold(extremes, {kValues}, offsets(kOffsets), {.results = {sums, sums}});
        },
        [&] {
            (void)session_.fold(extremes, {kValues}, offsets(kOffsets), {.results = {sums, others}});
        });
    const auto folded = session_.fold(extremes, {kValues}, offsets(kOffsets));
    follows(
        "the results have low, high; name one of them", [&] { (void)folded.values<int>(); },
        [&] { (void)folded.values<int>("low"); });
    auto taken = session_.fold(sum_, {kValues}, whole());
    const auto other = std::move(taken);
    follows(
        "these results have been moved from; use those that they were moved to",
        [&] { (void)taken.values<int>(); },  // NOLINT(bugprone-use-after-move): what it is about
        [&] { (void)other.values<int>(); });
}

TEST_F(CallAdvice, OnSegments)
{
    const std::vector<int> begins = {0, 2}, ends = {3, 5}, apart = {3, 5};
    follows(
        "give ranges that do not overlap",
        [&] { (void)session_.fold(mean_, {kValues}, ranges(begins, ends)); },
        [&] {
            (void)session_.fold(mean_, {kValues}, ranges(std::vector{0, 3}, apart));
        });
    SegmentsView rows;
    rows.kind = LayoutKind::rows;
    follows(
        "lend whole, uniform, offsets, lengths, ranges, flags, keys or groups",
        [&] { (void)session_.fold(sum_, {kValues}, rows); },
        [&] { (void)session_.fold(sum_, {kValues}, uniform(3)); });
    const std::vector<int> numbers = {1, 0, 1, 0, 1, 0, 1, 0, 1}, sorted = {0, 4, 9};
    const auto softmax = standard_operator("softmax", Type::f32);
    follows(
        "sort the columns by group once, and give offsets here",
        [&] { (void)session_.plan(sum_, by(numbers), 9); },
        [&] { (void)session_.plan(sum_, offsets(sorted), 9); });
    follows(
        "no kernel folds 2 groups of operator softmax as they lie; calls sort the elements, and plans take "
        "them sorted, with offsets",
        [&] { (void)session_.plan(softmax, groups(numbers, 2), 9); },
        [&] { (void)session_.plan(softmax, offsets(sorted), 9); });
    follows(
        "the numbers of groups lie on a device; fold takes arrays of the host: make a plan for those of a "
        "device",
        [&] {
            (void)session_.fold(sum_, {kValues},
                                groups(ArrayView(Type::i32, numbers.data(), 9, Place::device)));
        },
        [&] { (void)session_.plan(sum_, groups(numbers, 2), 9); });
    const ArrayView on_device(Type::i32, kOffsets.data(), 5, Place::device);
    follows(
        "the segments by offsets lie on a device, and the back end cpu of the plan of sum folds arrays of "
        "the host; lend them there",
        [&] { (void)session_.plan(sum_, offsets(on_device), 9); },
        [&] { (void)session_.plan(sum_, offsets(kOffsets), 9); });
    follows(
        "does not say how many elements there are; give their number or the elements",
        [] { (void)resolve(Layout{}, std::nullopt, Type::f32); },
        [] { (void)resolve(Layout{}, 9, Type::f32); });
}

TEST_F(CallAdvice, OnRows)
{
    follows(
        "lend the array without rows_of(), or declare the parameter as a row: x: row f32",
        [&] { (void)session_.fold(standard_operator("sum_f32"), {rows_of(kReals, 2)}, whole()); },
        [&] {
            (void)session_.fold(standard_operator("sum_f32"), {kReals}, whole());
            (void)session_.fold(rows_, {rows_of(kReals, 2)}, whole());
        });
    auto odd = rows_of(kReals, 2);
    odd.num_features = 3;
    follows(
        "which make no rows of 3 features; lend it as rows_of(array, K)",
        [&] { (void)session_.fold(rows_, {odd}, whole()); },
        [&] { (void)session_.fold(rows_, {rows_of(kReals, 4)}, whole()); });
    std::vector<float> sums(4);
    auto plan = session_.plan(rows_, whole(), 4, {.num_features = 2});
    follows(
        "lend it as rows_of(array, 2), or make another plan, with PlanOptions::num_features = 4",
        [&] { plan.run({rows_of(kReals, 4)}, whole(), {sums}); },
        [&] {
            plan.run({rows_of(kReals, 2)}, whole(), {sums});
            auto other = session_.plan(rows_, whole(), 2, {.num_features = 4});
            other.run({rows_of(kReals, 4)}, whole(), {sums});
        });
    follows(
        "operator sum has no rows; leave the number of features at 1",
        [&] { (void)session_.plan(sum_, whole(), 9, {.num_features = 4}); },
        [&] { (void)session_.plan(sum_, whole(), 9); });
}

TEST_F(CallAdvice, OnPlans)
{
    follows(
        "a stage and settings change the order of combination, which a reproducible plan fixes; leave "
        "them out",
        [&] {
            PlanRequest request{.stage = "warp_per_segment"};
            request.is_reproducible = true;
            (void)session_.plan(sum_, whole(), 9, {.request = request});
        },
        [&] {
            PlanRequest request;
            request.is_reproducible = true;
            (void)session_.plan(sum_, whole(), 9, {.request = request});
        });
    auto reference = session_on("reference");
    follows(
        "chooses what a kernel does, and the back end reference runs none; leave it out, or take another "
        "back end",
        [&] { (void)reference.plan(sum_, whole(), 9, {.request = {.stage = "vector_per_segment"}}); },
        [&] {
            (void)reference.plan(sum_, whole(), 9);
            (void)session_.plan(sum_, whole(), 9, {.request = {.stage = "vector_per_segment"}});
        });
    SessionOptions own;
    own.kernels = SEGFOLD_SOURCE_DIR "/runtime/examples/kernels";
    own.backend = "cpu";
    follows(
        "the folder of kernels has stages of CUDA, which the back end cpu does not run; take simt",
        [&] { (void)Session(own).fold(sum_, {kValues}, whole()); },
        [&] {
            own.backend = "simt";
            (void)Session(own).fold(sum_, {kValues}, whole());
        });
    follows(
        "its times are not those of a GPU; take cuda or cpu", [] { (void)make_backend("simt")->timing(); },
        [] { (void)make_backend("cpu")->timing(); });
    const auto entry = [](const std::string& name) {
        return BackendEntry{name, "the reference", false, false,
                            [](const BackendOptions&) { return make_backend("reference"); }};
    };
    follows(
        "a back end is named 'cpu' already; take another name", [&] { add_backend(entry("cpu")); },
        [&] { add_backend(entry("of_call_advice")); });
}

TEST_F(CallAdvice, OnSlicesAndStreams)
{
    follows(
        "fold it in one piece, by FoldOptions::num_slices = 0",
        [&] { (void)session_.fold(mean_, {kValues}, whole(), {.num_slices = 2}); },
        [&] { (void)session_.fold(mean_, {kValues}, whole(), {.num_slices = 0}); });
    follows(
        "fold it in one piece, by Session::fold()", [&] { stream(session_, mean_, kValues, whole()); },
        [&] { (void)session_.fold(mean_, {kValues}, whole()); });
    follows(
        "lend it without rows_of(), or fold rows in one piece, by Session::fold()",
        [&] { stream(session_, sum_, StreamArray(rows_of(kValues, 3)), whole()); },
        [&] {
            stream(session_, sum_, kValues, whole());
            (void)session_.fold(rows_, {rows_of(kReals, 2)}, whole());
        });
    const std::vector<int> keys_of_all = {1, 1, 1, 2, 2, 2, 3, 3, 3}, few = {1, 2};
    follows(
        "segments by ranges are told by no single array; give offsets, lengths, flags, keys or groups",
        [&] { (void)StreamSegments(LayoutKind::ranges, StreamArray(kValues)); },
        [&] { (void)StreamSegments(LayoutKind::keys, StreamArray(keys_of_all)); });
    follows(
        "say the length of what is generated",
        [&] {
            stream(session_, sum_, made(2), offsets(std::vector{0, 2}));
        },
        [&] {
            stream(session_, sum_, made(2, 2), offsets(std::vector{0, 2}));
        });
    follows(
        "there are 2 keys but 9 elements; give one for each",
        [&] { stream(session_, sum_, kValues, keys(few)); },
        [&] { stream(session_, sum_, kValues, keys(keys_of_all)); });
    follows(
        "give one for each element", [&] { stream(session_, sum_, made(3), keys(few)); },
        [&] { stream(session_, sum_, made(2), keys(few)); });
}

}  // namespace
}  // namespace segfold::test::call_advice_test
