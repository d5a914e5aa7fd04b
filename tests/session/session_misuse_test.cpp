// Wrong arrays, wrong options and objects that were moved from are refused with messages, on every back end
// of the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/backends/backend.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/session/core.h"
#include "tests/common/front_door.h"
#include "tests/stages/row_cases.h"

namespace segfold::test::session_misuse_test {
namespace {

class Misuse : public testing::TestWithParam<const char*> {
protected:
    Session session_ = session_on(GetParam());
    const Operator sum_ = standard_operator("sum_i32");
};

TEST_P(Misuse, ResultsWithoutAnAddress)
{
    const MutableArrayView nowhere(Type::i32, nullptr, 4), none(Type::i32, nullptr, 0);
    const std::string refused = "the results of 'result' have 4 elements and no address";
    EXPECT_EQ(message_of<InputError>(
                  [&] { (void)session_.fold(sum_, {kValues}, offsets(kOffsets), {.results = {nowhere}}); }),
              refused);
    auto plan = session_.plan(sum_, offsets(kOffsets), 9);
    EXPECT_EQ(message_of<InputError>([&] { plan.run({kValues}, offsets(kOffsets), {nowhere}); }), refused);
    const std::vector<int> nothing, start = {0};
    (void)session_.fold(sum_, {nothing}, offsets(start), {.results = {none}});
    session_.plan(sum_, offsets(start), 0).run({nothing}, offsets(start), {none});
}

TEST_P(Misuse, LengthsThatAreNegative)
{
    const ArrayView x(Type::i32, kValues.data(), -1), starts(Type::i32, kOffsets.data(), -1);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(sum_, {x}, whole()); }),
              "the elements of 'x' have a length of -1; a length is not negative");
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(sum_, {kValues}, offsets(starts)); }),
              "the offsets have a length of -1; a length is not negative");
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(sum_, lengths(starts), 9); }),
              "an array of segments by lengths has a length of -1; a length is not negative");
}

TEST_P(Misuse, LengthsThatNoMemoryHas)
{
    const std::int64_t many = std::int64_t{1} << 62;
    const std::string refused =
        " have a length of 4611686018427387904; an array can have 281474976710656 at most";
    const ArrayView x(Type::i32, kValues.data(), many);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(sum_, {x}, whole()); }),
              "the elements of 'x'" + refused);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(sum_, {kValues}, offsets(x)); }),
              "the offsets" + refused);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(sum_, whole(), many); }),
              "the plan is for 4611686018427387904 elements; it can have 281474976710656 at most");

    const auto gather = parse_operator("gather",
                                       "operator gather(i: i32, t: table i32) -> i32 { "
                                       "state s: i32 = 0 lift t[i] combine(a, b) a + b }");
    const std::vector<int> first(9);
    std::vector<int> sums(1);
    auto plan = session_.plan(gather, whole(), 9);
    EXPECT_EQ(message_of<InputError>([&] {
                  plan.run({first, x}, whole(), {sums});
              }),
              "the elements of 't'" + refused);
    EXPECT_EQ(message_of<InputError>([&] {
                  (void)fold_stream(session_, sum_, {StreamArray(x)}, whole(), {},
                                    [](const Folded&, std::int64_t) {});
              }),
              "the elements of a stream" + refused);
}

TEST_P(Misuse, ObjectsThatWereMovedFrom)
{
    const std::string no_session = "this session has been moved from; use the one that it was moved to";
    const std::string no_plan = "this plan has been moved from; use the one that it was moved to";
    auto plan = session_.plan(sum_, whole(), 9);
    auto session = std::move(session_);
    auto other = std::move(plan);
    int sum = 0;
    const MutableArrayView into(Type::i32, &sum, 1);
    // NOLINTBEGIN(bugprone-use-after-move): what this test is about
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(sum_, {kValues}, whole()); }), no_session);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(sum_, whole(), 9); }), no_session);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.laws(sum_); }), no_session);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.prove(sum_); }), no_session);
    EXPECT_EQ(message_of<InputError>([&] { session_.forget_records(); }), no_session);
    EXPECT_EQ(message_of<InputError>([&] { (void)core(session_).backend(); }), no_session);
    EXPECT_EQ(message_of<InputError>([&] { (void)core(session_).catalogue(); }), no_session);
    EXPECT_EQ(message_of<InputError>([&] { plan.run({kValues}, whole(), {into}); }), no_plan);
    EXPECT_EQ(message_of<InputError>([&] { plan.resize(whole(), 3); }), no_plan);
    EXPECT_EQ(message_of<InputError>([&] { (void)plan.copy(); }), no_plan);
    EXPECT_EQ(message_of<InputError>([&] { plan.move_to(nullptr); }), no_plan);
    EXPECT_EQ(message_of<InputError>([&] { plan.require_tables_read_inside(); }), no_plan);
    EXPECT_EQ(message_of<InputError>([&] { (void)plan.stage(); }), no_plan);
    EXPECT_EQ(message_of<InputError>([&] { (void)plan.source(); }), no_plan);
    EXPECT_EQ(message_of<InputError>([&] { (void)plan.explain(); }), no_plan);
    EXPECT_EQ(message_of<InputError>([&] { (void)plan.warnings(); }), no_plan);
    EXPECT_EQ(message_of<InputError>([&] { (void)plan.scratch_bytes(); }), no_plan);
    // NOLINTEND(bugprone-use-after-move)
    other.run({kValues}, whole(), {into});
    EXPECT_EQ(sum, 36);
    plan = std::move(other);
    plan.run({kValues}, whole(), {into});
}

TEST_P(Misuse, OperatorsAndResultsThatWereMovedFrom)
{
    auto op = standard_operator("sum_i32");
    auto folded = session_.fold(op, {kValues}, whole());
    auto plan = session_.plan(op, whole(), 9);
    const auto other = std::move(op);
    const auto results = std::move(folded);
    const std::string no_operator =
        "operator '' has no state, so that there is nothing to fold: it has been moved from, or was never "
        "defined; use the one that it was moved to, or define one";
    const std::string no_results = "these results have been moved from; use those that they were moved to";
    // NOLINTBEGIN(bugprone-use-after-move): what this test is about
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(op, {kValues}, whole()); }), no_operator);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(op, {}, whole()); }), no_operator);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(op, whole(), 9); }), no_operator);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.laws(op); }), no_operator);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.prove(op); }), no_operator);
    EXPECT_EQ(message_of<InputError>([&] {
                  (void)fold_stream(session_, op, {}, whole(), {}, [](const Folded&, std::int64_t) {});
              }),
              no_operator);
    EXPECT_EQ(message_of<InputError>([&] { (void)folded.values<int>(); }), no_results);
    EXPECT_EQ(message_of<InputError>([&] { (void)folded.keys<int>(); }), no_results);
    EXPECT_EQ(message_of<InputError>([&] { (void)folded.num_segments(); }), no_results);
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_EQ(results.values<int>()[0], 36);
    EXPECT_EQ(results.num_segments(), 1);
    EXPECT_EQ(session_.fold(other, {kValues}, whole()).values<int>(), (std::vector{36}));
}

/// Members of an operator are public, so a caller may move a part out.
TEST_P(Misuse, OperatorsOfWhichAPartWasMovedOut)
{
    const auto whole_one = parse_operator("spread", R"(operator spread(x: i32) -> (low: i32, high: i32) {
        state { low: i32 = highest(i32); high: i32 = lowest(i32) }
        lift { let y = x; low = y; high = y }
        combine(a, b) { low = min(a.low, b.low); high = max(a.high, b.high) }
        append(a) { low = min(a.low, x); high = max(a.high, x) }
        finish { low = low; high = high }
        empty { low = 0; high = 0 }
    })");
    const auto told = [&](const std::function<void(Operator&)>& spoil) {
        auto op = whole_one;
        spoil(op);
        const auto text = message_of<InputError>([&] { (void)session_.fold(op, {kValues}, whole()); });
        EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(op, whole(), 9); }), text);
        EXPECT_EQ(message_of<InputError>([&] { (void)session_.laws(op); }), text);
        const std::string_view before = "operator 'spread' does not fit together: ";
        return text.starts_with(before) ? text.substr(before.size(), text.find(';') - before.size()) : text;
    };
    EXPECT_EQ(told([](Operator& op) { const auto lift = std::move(op.lift); }),
              "lift gives 0 values, and there are 2 state fields");
    EXPECT_EQ(told([](Operator& op) { const auto combine = std::move(op.combine); }),
              "combine gives 0 values, and there are 2 state fields");
    EXPECT_EQ(told([](Operator& op) { const auto append = std::move(*op.append); }),
              "append gives 0 values, and there are 2 state fields");
    EXPECT_EQ(told([](Operator& op) { const auto finish = std::move(*op.finish); }),
              "finish gives 0 values, and there are 2 results");
    EXPECT_EQ(told([](Operator& op) { const auto empty = std::move(*op.empty); }),
              "empty gives 0 values, and there are 2 results");
    EXPECT_EQ(told([](Operator& op) { const auto results = std::move(op.results); }),
              "finish gives 2 values, and there are 0 results");
    EXPECT_EQ(told([](Operator& op) { const auto field = std::move(op.state[1].name); }),
              "lift gives 'high' where the state field is ''");
    EXPECT_EQ(told([](Operator& op) { const auto identity = std::move(op.state[1].identity); }),
              "the state field 'high' has no identity");
    EXPECT_EQ(told([](Operator& op) { const auto value = std::move(op.combine.assignments[0].value); }),
              "combine has no expression for 'low'");
    EXPECT_EQ(told([](Operator& op) { const auto value = std::move(op.lift.lets[0].value); }),
              "lift has no expression for 'y'");
    EXPECT_EQ(told([](Operator& op) { const auto name = std::move(op.parameters[0].name); }),
              "lift reads 'x', and no parameter is called so");
    EXPECT_EQ(told([](Operator& op) {
                  const auto state = std::move(op.state);
                  op.state.assign(state.begin(), state.begin() + 1);
              }),
              "lift gives 2 values, and there is 1 state field");
    EXPECT_EQ(session_.fold(whole_one, {kValues}, whole()).values<int>("high"), (std::vector{9}));
}

TEST_P(Misuse, ArraysOfNoType)
{
    const auto none = static_cast<Type>(77);
    const ArrayView x(none, kValues.data(), 9), starts(none, kOffsets.data(), 5);
    std::vector<int> sums(4, -1);
    const MutableArrayView into(none, sums.data(), 4);
    const auto refused = [](const std::string& what) {
        return what +
               " have the type of number 77, which is none; the types are 0 to 12: bool, i8, i16, i32, i64, "
               "u8, u16, u32, u64, f16, bf16, f32, f64";
    };
    const auto fold = [&](const ArrayView& input, const SegmentsView& segments, const FoldOptions& options) {
        return message_of<InputError>([&] { (void)session_.fold(sum_, {input}, segments, options); });
    };
    EXPECT_EQ(fold(x, whole(), {}), refused("the elements of 'x'"));
    EXPECT_EQ(fold(kValues, offsets(starts), {}), refused("the offsets"));
    EXPECT_EQ(fold(kValues, flags(x), {}), refused("the flags"));
    EXPECT_EQ(fold(kValues, keys(x), {}), refused("the keys"));
    EXPECT_EQ(fold(kValues, offsets(kOffsets), {.results = {into}}), refused("the results of 'result'"));
    auto plan = session_.plan(sum_, offsets(kOffsets), 9);
    const auto run = [&](const ArrayView& input, const SegmentsView& segments,
                         const MutableArrayView& results) {
        return message_of<InputError>([&] { plan.run({input}, segments, {results}); });
    };
    EXPECT_EQ(run(x, offsets(kOffsets), sums), refused("the elements of 'x'"));
    EXPECT_EQ(run(kValues, offsets(starts), sums), refused("the segments by offsets"));
    EXPECT_EQ(run(kValues, offsets(kOffsets), into), refused("the results of 'result'"));
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(sum_, keys(x), 9); }),
              refused("the segments by keys"));
    EXPECT_EQ(message_of<InputError>([&] {
                  (void)fold_stream(session_, sum_, {x}, whole(), {}, [](const Folded&, std::int64_t) {});
              }),
              refused("the elements of a stream"));
    EXPECT_EQ(sums, std::vector(4, -1));
}

TEST_P(Misuse, RowsOfAnotherLengthThanThePlans)
{
    const auto op = over_rows(sum_);
    const std::vector<int> numbers(12, 1);
    std::vector<int> sums(2);
    auto plan = session_.plan(op, whole(), 6, {.num_features = 2});
    EXPECT_EQ(
        message_of<InputError>([&] { plan.run({rows_of(numbers, 3)}, whole(), {sums}); }),
        "'x' has rows of 3 features, and the plan of sum was made for rows of 2; lend it as rows_of(array, "
        "2), or make another plan, with PlanOptions::num_features = 3");
    EXPECT_EQ(
        message_of<InputError>([&] { plan.run({numbers}, whole(), {sums}); }),
        "'x' has rows of 1 feature, and the plan of sum was made for rows of 2; lend it as rows_of(array, "
        "2), or make another plan, with PlanOptions::num_features = 1");
    plan.run({rows_of(numbers, 2)}, whole(), {sums});
    EXPECT_EQ(sums, (std::vector{6, 6}));
}

TEST_P(Misuse, LayoutsOfWhichNoArraysAreLent)
{
    SegmentsView rows;
    rows.kind = LayoutKind::rows;
    const std::string refused =
        "segments by rows cannot be lent; lend whole, uniform, offsets, lengths, ranges, flags, keys or "
        "groups";
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(sum_, {kValues}, rows); }), refused);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(sum_, rows, 9); }), refused);
}

TEST_P(Misuse, ProofsWithoutTime)
{
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.prove(sum_, -1); }),
              "seconds is -1; a proof is given 0 or more");
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.prove(sum_, std::nan("")); }),
              "seconds is nan; a proof is given 0 or more");
}

TEST_P(Misuse, OptionsThatNoPlanCanHave)
{
    const auto refused = [&](const Operator& op, const PlanOptions& options) {
        return message_of<InputError>([&] { (void)session_.plan(op, whole(), 9, options); });
    };
    EXPECT_EQ(refused(sum_, {.longest = -1}),
              "longest is -1; it is the number of elements of the longest segment, or 0 where nobody knows");
    EXPECT_EQ(refused(over_rows(sum_), {.num_features = 0}),
              "the plan of sum is for rows of 0 features; a row has at least 1");
    EXPECT_EQ(
        refused(sum_, {.num_features = 4}),
        "the plan is for rows of 4 features, and operator sum has no rows; leave the number of features "
        "at 1");
}

TEST_P(Misuse, PlansForSegmentsOnADevice)
{
    const auto lengths_there = on_device(kOffsets.data(), 5);
    const auto refused = [](const char* kind) {
        return std::string("the segments by ") + kind + " lie on a device, and the back end " + GetParam() +
               " of the plan of sum folds arrays of the host; lend them there";
    };
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(sum_, offsets(lengths_there), 9); }),
              refused("offsets"));
    EXPECT_EQ(message_of<InputError>(
                  [&] { (void)session_.plan(sum_, ranges(std::span(kOffsets), lengths_there), 9); }),
              refused("ranges"));
    auto plan = session_.plan(sum_, lengths(kOffsets), 9);
    EXPECT_EQ(message_of<InputError>([&] { plan.resize(lengths(lengths_there), 9); }), refused("lengths"));
}

TEST_P(Misuse, DevicesOfNoOrdinal)
{
    const auto refused = [](const std::string& backend) {
        SessionOptions options;
        options.backend = backend;
        options.device = -1;
        return message_of<InputError>([&] { (void)Session(options); });
    };
    for (const std::string backend : {"auto", "cuda", GetParam()})
        EXPECT_EQ(refused(backend), "device is -1; it is the ordinal of a GPU, 0 or more");
}

TEST_P(Misuse, RowsThatAreLentAsPlainNumbers)
{
    const auto op = over_rows(sum_);
    const std::vector<int> numbers(27, 1);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(op, {numbers}, offsets(kOffsets)); }),
              "offsets end at 9 but there are 27 elements; the last offset must be the number of elements; "
              "operator sum takes rows, and each of its 27 rows has one number: rows_of(array, K) lends rows "
              "of K");
}

TEST_P(Misuse, NumbersThatAreLentAsRows)
{
    const std::string refused =
        "'x' of operator sum takes numbers, and is lent as rows of 3 features; lend the array without "
        "rows_of(), or declare the parameter as a row: x: row i32";
    const auto rows = rows_of(kValues, 3);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(sum_, {rows}, whole()); }), refused);
    auto plan = session_.plan(sum_, whole(), 9);
    std::vector<int> sums(1);
    EXPECT_EQ(message_of<InputError>([&] { plan.run({rows}, whole(), {sums}); }), refused);
    plan.run({rows_of(kValues, 1)}, whole(), {sums});
    EXPECT_EQ(sums[0], 36);
}

TEST_P(Misuse, MessagesCountOneInTheSingular)
{
    const std::vector<int> one = {1}, starts = {0, 0}, start = {0};
    std::vector<int> a(4), b(4), none;
    auto plan = session_.plan(sum_, offsets(kOffsets), 9);
    const std::string two_arrays = " has 1 result field, and is given 2 arrays for its results";
    EXPECT_EQ(message_of<InputError>([&] {
                  (void)session_.fold(sum_, {kValues}, offsets(kOffsets), {.results = {a, b}});
              }),
              "the operator" + two_arrays);
    EXPECT_EQ(message_of<InputError>([&] {
                  plan.run({kValues}, offsets(kOffsets), {a, b});
              }),
              "operator sum" + two_arrays);
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(sum_, {one}, whole(), {.results = {none}}); }),
              "the results of 'result' are 1 value, and the array for them has room for 0");
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.fold(sum_, {one}, offsets(starts)); }),
              "offsets end at 0 but there is 1 element; the last offset must be the number of elements");
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(sum_, ranges(start, starts), 1); }),
              "1 begin and 2 ends; there is one of each for a segment");
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(sum_, flags(starts), 1); }),
              "2 flags for 1 element; one for each is needed");
}

TEST_P(Misuse, SlicesOfRows)
{
    const auto op = over_rows(sum_);
    EXPECT_EQ(message_of<InputError>(
                  [&] { (void)session_.fold(op, {rows_of(kValues, 3)}, whole(), {.num_slices = 2}); }),
              "operator sum folds rows of features, which are not cut into slices; fold it in one piece, by "
              "FoldOptions::num_slices = 0");
}

TEST_P(Misuse, StagesOfABackEndThatRunsNone)
{
    if (core(session_).backend().runs_stages())
        return;
    PlanRequest request;
    request.stage = "tile_scan";
    const auto why =
        " chooses what a kernel does, and the back end reference runs none; leave it out, or take "
        "another back end";
    EXPECT_EQ(
        message_of<InputError>([&] { (void)session_.fold(sum_, {kValues}, whole(), {.plan = request}); }),
        std::string("stage 'tile_scan'") + why);
    request = {.settings = {{"block_threads", 64}}};
    EXPECT_EQ(message_of<InputError>([&] { (void)session_.plan(sum_, whole(), 9, {.request = request}); }),
              std::string("setting 'block_threads'") + why);
}

TEST_P(Misuse, FewerSlicesThanNone)
{
    EXPECT_EQ(
        message_of<InputError>([&] { (void)session_.fold(sum_, {kValues}, whole(), {.num_slices = -1}); }),
        "the number of slices is -1; it is 1 or more, or 0 where a fold is made in one piece");
}

TEST_P(Misuse, MoreSlicesThanElements)
{
    const std::vector<int> values = {1, 2, 4}, begins = {0, 0, 0}, ends = {3, 3, 2};
    for (const auto most : {std::int64_t{1'000'000'000}, std::numeric_limits<std::int64_t>::max()}) {
        for (const bool is_reproducible : {false, true}) {
            FoldOptions options;
            options.num_slices = most;
            options.plan.is_reproducible = is_reproducible;
            EXPECT_EQ(session_.fold(sum_, {values}, whole(), options).values<int>(), (std::vector{7}));
            EXPECT_EQ(session_.fold(sum_, {values}, ranges(begins, ends), options).values<int>(),
                      (std::vector{7, 7, 3}));
        }
    }
}

/// No misuse: without this a caller of a plan would not learn the number of segments.
TEST_P(Misuse, SegmentsThatAreFoundAreTold)
{
    const std::vector<std::int16_t> keys_of = {7, 7, 7, 2, 2, 9, 9, 9, 9};
    const std::vector<std::uint8_t> flags_of = {1, 0, 0, 1, 0, 1, 0, 0, 0};
    std::vector<std::int16_t> found_keys(9, -1);
    std::vector<int> num_found(1, -1), results(9, -1);
    const auto view = keys(keys_of, found_keys, num_found);
    const auto expect_told = [&] {
        EXPECT_EQ(num_found[0], 3);
        EXPECT_EQ(found_keys, (std::vector<std::int16_t>{7, 2, 9, -1, -1, -1, -1, -1, -1}));
        num_found[0] = -1;
        found_keys.assign(9, -1);
    };
    auto plan = session_.plan(sum_, view, 9);
    plan.run({kValues}, view, {results});
    EXPECT_EQ(results, (std::vector{8, 6, 22, -1, -1, -1, -1, -1, -1}));
    expect_told();
    (void)session_.fold(sum_, {kValues}, view);
    expect_told();
    plan.run({kValues}, keys(keys_of), {results});
    EXPECT_EQ(num_found[0], -1) << "without an array for it";
    session_.plan(sum_, flags(flags_of), 9).run({kValues}, flags(flags_of, num_found), {results});
    EXPECT_EQ(num_found[0], 3);

    const auto refused = [&](const SegmentsView& segments) {
        return message_of<InputError>([&] { plan.run({kValues}, segments, {results}); });
    };
    std::vector<std::int64_t> wide(1);
    EXPECT_EQ(refused(keys(keys_of, found_keys, wide)), "num_found are i64; the plan takes i32");
    EXPECT_EQ(refused(keys(keys_of, std::span(found_keys).first(3), num_found)),
              "found_keys are 3; the plan is for at least 9");
    EXPECT_EQ(refused(keys(keys_of, found_keys, MutableArrayView(Type::i32, nullptr, 1))),
              "num_found have 1 element and no address");
    EXPECT_EQ(message_of<InputError>([&] {
                  (void)session_.fold(sum_, {kValues},
                                      keys(keys_of, std::span(found_keys).first(2), num_found));
              }),
              "found_keys are 3 values, and the array for them has room for 2");
    EXPECT_EQ(num_found[0], 3) << "nothing is written where something does not fit";
}

TEST(PlanMisuse, KeysOfAnotherWidthWantAnotherPlan)
{
    auto session = session_on("reference");
    const std::vector<std::int8_t> narrow(9);
    auto plan = session.plan(standard_operator("sum_i32"), keys(kValues), 9);
    std::vector<int> results(9);
    EXPECT_EQ(
        message_of<InputError>([&] { plan.run({kValues}, keys(narrow), {results}); }),
        "the plan of sum is for 9 elements in segments by keys of 4 bytes, and is given segments by keys "
        "of 1 byte; make another plan");
    EXPECT_EQ(
        message_of<InputError>([&] { plan.resize(keys(narrow), 9); }),
        "the plan of sum is for segments by keys of 4 bytes, and resize() is given segments by keys of 1 "
        "byte; it takes other numbers of elements and segments, so make another plan");
    const std::int64_t many = std::int64_t{1} << 31;
    EXPECT_EQ(
        message_of<InputError>([&] { plan.resize(keys(ArrayView(Type::i32, kValues.data(), many)), many); }),
        "the plan of sum is for segments by keys of 4 bytes with 32-bit indices, and resize() is given "
        "segments by keys of 4 bytes with 64-bit indices; it takes other numbers of elements and "
        "segments, so make another plan");
}

INSTANTIATE_TEST_SUITE_P(Backends, Misuse, testing::Values("cpu", "simt", "reference"));

}  // namespace
}  // namespace segfold::test::session_misuse_test
