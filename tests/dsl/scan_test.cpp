// Running results: the part `scan` in text and in C++, and the operators that scanned() makes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dsl/cpp/define.h"
#include "dsl/derived.h"
#include "dsl/laws/laws.h"
#include "dsl/printer.h"
#include "dsl/rewrite/short_places.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/message_of.h"

namespace segfold::scan_test {
namespace {

/// Reads an operator. Checks that its printed form reads as an equal one.
Operator read(const std::string& text)
{
    auto op = parse_operator("test", text);
    EXPECT_TRUE(same(parse_operator("printed", print(op)), op)) << print(op);
    return op;
}

Operator with_scan(const std::string& scan, const std::string& state = "state t: i32 = 0")
{
    return read("operator f(x: i32) -> each i32 { " + state + " lift x combine(a, b) a + b " + scan + " }");
}

const std::string kStreak = R"(operator streak(delay: f32) -> each i32 {
  state { flights: i32 = 0; trailing: i32 = 0 }
  lift { flights = 1; trailing = i32(delay > 15.0) }
  combine(a, b) {
    flights = a.flights + b.flights;
    trailing = b.trailing == b.flights ? a.trailing + b.flights : b.trailing
  }
  SCAN through.trailing
})";

std::string streak(const std::string& scan)
{
    auto text = kStreak;
    return text.replace(text.find("SCAN"), 4, scan);
}

TEST(Scan, IsReadPrintedAndCompared)
{
    const auto op = read(streak("scan(before, through)"));
    ASSERT_TRUE(op.scan);
    EXPECT_FALSE(op.scan->reverse);
    EXPECT_FALSE(op.keeps_results);
    EXPECT_FALSE(reads_before(op));
    EXPECT_EQ(op.outputs.at(0).name, kResultName);
    EXPECT_EQ(op.results.size(), 2u) << "the fields of the state, which nobody gets";
    EXPECT_NE(print(op).find("  scan(before, through) through.trailing\n"), std::string::npos) << print(op);
    EXPECT_EQ(returned_fields(op).size(), 1u);

    const auto backwards = read(streak("scan reverse(before, through)"));
    EXPECT_TRUE(backwards.scan->reverse);
    EXPECT_FALSE(same(op, backwards));
    EXPECT_FALSE(same(op, without_outputs(op)));
    EXPECT_FALSE(without_outputs(op).scan);
    EXPECT_TRUE(without_outputs(op).keeps_results);
    EXPECT_FALSE(same(with_scan("scan(p, q) q"), with_scan("scan(p, r) r"))) << "other names";
    EXPECT_FALSE(same(with_scan("scan(p, q) q"), with_scan("scan(p, q) p"))) << "another block";
    EXPECT_TRUE(same(with_scan("scan(p, q) q"), with_scan("scan(p, q) q.t"))) << "a state of one field";
}

TEST(Scan, ReadsStatesColumnsTablesScalarsAndPlaces)
{
    const auto op =
        read(R"(operator f(x: i32, t: table i64, k: scalar i64) -> (sum: i32, each before: i64, each z: i64) {
  state sum: i32 = 0
  lift x
  combine(a, b) a + b
  scan(earlier, so_far) {
    let place = index + position + segment;
    before = i64(earlier) * k;
    z = i64(so_far) + t[place] + i64(x)
  }
})");
    EXPECT_TRUE(op.keeps_results);
    EXPECT_TRUE(reads_before(op));
    EXPECT_EQ(returned_fields(op).size(), 3u);
    EXPECT_EQ(output_places(op, op.scan->block), (std::vector<std::size_t>{0, 1}));
}

TEST(Scan, SharesOutputsWithMap)
{
    const auto op =
        read(R"(operator f(x: f32) -> (mean: f32, each rest: f32, each sum: f32, each share: f32) {
  state total: f32 = 0
  lift x
  combine(a, b) a + b
  finish total / f32(length)
  map { share = x / mean; rest = x - mean }
  scan(before, through) { sum = through }
})");
    EXPECT_EQ(output_places(op, *op.map), (std::vector<std::size_t>{0, 2})) << "in the order of the outputs";
    EXPECT_EQ(output_places(op, op.scan->block), (std::vector<std::size_t>{1}));
    // One value stands for the output that the other part leaves.
    EXPECT_TRUE(same(read("operator f(x: i32) -> (each y: i32, each z: i32) { state t: i32 = 0 lift x "
                          "combine(a, b) a + b map { z = x - t } scan(p, q) q }"),
                     read("operator f(x: i32) -> (each y: i32, each z: i32) { state t: i32 = 0 lift x "
                          "combine(a, b) a + b map x - t scan(p, q) { y = q } }")));
}

TEST(Scan, OutputsMayHaveTheNamesOfFields)
{
    const auto op = read(
        "operator f(x: i32) -> (each t: i32) { state t: i32 = 0 lift x combine(a, b) a + b "
        "scan(before, through) through }");
    EXPECT_EQ(op.outputs.at(0).name, op.results.at(0).name);
}

TEST(Scan, ArraysOfTheStateAreExpanded)
{
    const auto op = read(R"(operator f(x: i32) -> each i64 {
  state s: i64[3] = 0
  lift { for k in 0..3 { s[k] = i64(x == k) } }
  combine(a, b) { for k in 0..3 { s[k] = a.s[k] + b.s[k] } }
  scan(before, through) through.s[x] - before.s[1]
})");
    EXPECT_TRUE(reads_before(op));
}

TEST(Scan, ProductsRefuseIt)
{
    EXPECT_EQ(
        test::message_of<InputError>([] { return with_scan("scan(p, q) q") & standard_operator("sum_i32"); }),
        "operator f has a scan, which no product has: a product joins the results of segments; fold it "
        "alone");
}

struct Late : State {
    Field<int> flights{"flights", 0}, trailing{"trailing", 0};
};

template <class Scans>
Operator streak_in_cpp(const Scans& scans)
{
    return define<Late>("streak", [&](auto& op) {
        Column<float> delay(op, "delay");
        op.lift([&](Late& s) {
            s.flights = 1;
            s.trailing = cast<int>(delay > 15.0f);
        });
        op.combine([](Late a, Late b, Late& s) {
            s.flights = a.flights + b.flights;
            s.trailing = select(b.trailing == b.flights, a.trailing + b.flights, b.trailing);
        });
        scans(op);
    });
}

TEST(Scan, InCppEqualsItsText)
{
    const auto forwards =
        streak_in_cpp([](auto& op) { op.scan([](Late, Late through) { return through.trailing; }); });
    EXPECT_TRUE(same(forwards, read(streak("scan(before, through)")))) << print(forwards);
    const auto backwards =
        streak_in_cpp([](auto& op) { op.reverse_scan([](Late, Late through) { return through.trailing; }); });
    EXPECT_TRUE(same(backwards, read(streak("scan reverse(before, through)")))) << print(backwards);
    const auto several = define("f", Field<int>("t", 0), [](auto& op) {
        Column<int> x(op, "x");
        Each<int> y(op, "y"), z(op, "z");
        op.lift(x);
        op.combine([](auto a, auto b) { return a + b; });
        op.map([&](auto total) { z = x - total; });
        op.scan([&](auto before, auto through) { y = before * through; });
    });
    EXPECT_TRUE(
        same(several, read("operator f(x: i32) -> (each y: i32, each z: i32) { state t: i32 = 0 lift x "
                           "combine(a, b) a + b map { z = x - t } scan(before, through) { y = before * "
                           "through } }")))
        << print(several);
}

TEST(Scanned, FinishesTheRunningState)
{
    const auto sum = scanned(standard_operator("sum_i32"), {});
    EXPECT_TRUE(
        same(sum, read("operator sum(x: i32) -> each i32 { state sum: i32 = 0 lift x combine(a, b) a + b "
                       "scan(before, through) through laws commutative }")))
        << print(sum);
    const auto mean =
        scanned(read("operator mean(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b "
                     "finish { let n = f32(length); result = s / n } empty nan }"),
                {});
    EXPECT_TRUE(
        same(mean, read("operator mean(x: f32) -> each f32 { state s: f32 = 0 lift x combine(a, b) a + b "
                        "scan(before, through) { let n = f32(position + 1); result = through / n } }")))
        << print(mean);
}

TEST(Scanned, ExclusivelyTheFirstElementHasTheResultOfNoElements)
{
    const auto sum = scanned(standard_operator("sum_i32"), {.exclusive = true});
    EXPECT_TRUE(
        same(sum, read("operator sum(x: i32) -> each i32 { state sum: i32 = 0 lift x combine(a, b) a + b "
                       "scan(before, through) before laws commutative }")))
        << print(sum);
    const std::string mean =
        "operator mean(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b "
        "finish s / f32(length) empty { let none = nan; result = none } }";
    const auto forwards = scanned(read(mean), {.exclusive = true});
    EXPECT_TRUE(same(forwards,
                     read("operator mean(x: f32) -> each f32 { state s: f32 = 0 lift x combine(a, b) a + b "
                          "scan(before, through) { let none = nan; result = position == 0 ? none : before / "
                          "f32(position) } }")))
        << print(forwards);
    // From the end, no place tells which element is visited first, nor how many were.
    const auto backwards = scanned(read(mean), {.exclusive = true, .reverse = true});
    EXPECT_TRUE(same(backwards, read(R"(operator mean(x: f32) -> each f32 {
  state { s: f32 = 0; any: bool = false; count: i64 = 0 }
  lift { s = x; any = true; count = 1 }
  combine(a, b) {
    s = !a.any ? b.s : !b.any ? a.s : a.s + b.s;
    any = a.any || b.any;
    count = a.count + b.count
  }
  scan reverse(before, through) { let none = nan; result = !before.any ? none : before.s / f32(before.count) }
})"))) << print(backwards);
}

TEST(Scanned, SemigroupsExclusively)
{
    const std::string first =
        "operator first(x: i32, any: i32) -> i32 { state s: i32 lift x * any "
        "combine(a, b) a empty -1 }";
    const auto op = scanned(read(first), {.exclusive = true});
    EXPECT_TRUE(same(op, read(R"(operator first(x: i32, any: i32) -> each i32 {
  state { s: i32 = 0; any_: bool = false }
  lift { s = x * any; any_ = true }
  combine(a, b) { s = !a.any_ ? b.s : !b.any_ ? a.s : a.s; any_ = a.any_ || b.any_ }
  scan(before, through) !before.any_ ? -1 : before.s
})"))) << print(op);
    EXPECT_FALSE(scanned(read(first), {}).has_identity()) << "inclusively nothing is needed";
}

TEST(Scanned, NamesOfTheOperatorStay)
{
    const auto op =
        scanned(read("operator f(before: f32, n: f32) -> (through: f32) { state { s: f32 = 0; a: f32 = 0 } "
                     "lift { s = before; a = n } combine(p, q) { s = p.s + q.s; a = q.a } "
                     "finish { let n = s * s; let through_ = n + a; through = through_ } }"),
                {});
    EXPECT_EQ(op.outputs.at(0).name, "through");
    EXPECT_EQ(op.scan->before, "before_");
    EXPECT_TRUE(same(parse_operator("printed", print(op)), op)) << print(op);
}

TEST(Scanned, AScanOfOnesOwnIsTurnedRound)
{
    const auto op = read(streak("scan(before, through)"));
    EXPECT_TRUE(same(scanned(op, {}), op));
    EXPECT_TRUE(same(scanned(op, {.reverse = true}), read(streak("scan reverse(before, through)"))));
    EXPECT_TRUE(same(scanned(scanned(op, {.reverse = true}), {.reverse = true}), op));
}

TEST(Scanned, Refusals)
{
    const auto refusal = [](const Operator& op, ScanForm form) {
        return test::message_of<InputError>([&] { return scanned(op, form); });
    };
    EXPECT_EQ(
        refusal(read(streak("scan(earlier, through)")), {.exclusive = true}),
        "operator streak has a scan of its own, which says what each element gets, so it cannot be made "
        "exclusive; its scan may read 'earlier', the state without the element");
    EXPECT_EQ(refusal(standard_operator("softmax"), {}),
              "operator softmax has a map, which needs the results of whole segments; only without the map "
              "it can be "
              "scanned");
    EXPECT_EQ(
        refusal(standard_operator("keep_first"), {.exclusive = true}),
        "operator keep_first has no identity, so that an exclusive scan has no result for the first element "
        "of a segment; give its state fields an identity (= VALUE), or an 'empty' part");
}

TEST(Scan, OfAStateWithoutIdentityKeepsTheStateBefore)
{
    const auto op = without_identity(with_scan("scan(before, through) through - before"));
    EXPECT_TRUE(op.has_identity()) << "the first element has it before it";
    EXPECT_TRUE(same(op, read(R"(operator f(x: i32) -> each i32 {
  state { t: i32 = 0; any: bool = false }
  lift { t = x; any = true }
  combine(a, b) { t = !a.any ? b.t : !b.any ? a.t : a.t + b.t; any = a.any || b.any }
  scan(before, through) through.t - before.t
})"))) << print(op);
    EXPECT_FALSE(without_identity(with_scan("scan(before, through) through")).has_identity());
}

TEST(Scan, ReadsShortPlacesAsLongOnes)
{
    const auto op = short_places(scanned(standard_operator("argmax_i32"), {}));
    EXPECT_EQ(op.state.at(1).type, Type::i32) << print(op);
    EXPECT_EQ(op.outputs.at(1).type, Type::i64);
}

}  // namespace
}  // namespace segfold::scan_test
