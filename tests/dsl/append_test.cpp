// The part `append`: its grammar and names, its form in C++, its law, and its place in products.
#include <gtest/gtest.h>

#include "dsl/check/append.h"
#include "dsl/check/check.h"
#include "dsl/cpp/define.h"
#include "dsl/derived.h"
#include "dsl/error.h"
#include "dsl/laws/laws.h"
#include "dsl/printer.h"
#include "dsl/rewrite/short_places.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/session/choice/choice.h"
#include "tests/common/appending_operators.h"

namespace segfold::test::append_test {
namespace {

constexpr LawOptions kPatient{20000, 3600, 1};

/// An argmax of i32 whose append takes an element under this condition.
Operator argmax_that_takes(const std::string& condition)
{
    return parse_operator("argmax.seg", R"(
operator argmax(x: i32) -> (value: i32, index: i64) {
  state   { value: i32 = lowest(i32); place: i64 = highest(i64) }
  lift    { value = x; place = index }
  combine(a, b) {
    let later = b.value > a.value || (b.value == a.value && b.place < a.place);
    value = later ? b.value : a.value;
    place = later ? b.place : a.place
  }
  append(a) {
    let later = )" + condition + R"(;
    value = later ? x : a.value;
    place = later ? index : a.place
  }
  finish  { value = value; index = place }
})");
}

/// The message for a sum of column x with this `append` and `lift`, without its place.
std::string refusal(const std::string& append, const std::string& lift = "x",
                    const std::string& combine = "(a, b) a + b")
{
    try {
        parse_operator("sum.seg",
                       "operator s(x: f32, y: f32, t: table f32, p: scalar f32) -> f32 {\n"
                       "  state sum: f32 = 0\n"
                       "  lift " +
                           lift +
                           " + 0 * p + 0 * t[0]\n"
                           "  combine" +
                           combine +
                           "\n"
                           "  " +
                           append +
                           "\n"
                           "}\n");
    } catch (const SpecError& error) {
        const std::string message = error.what();
        const auto line = message.find(": ");
        return message.substr(line + 2, message.find('\n') - line - 2);
    }
    return "accepted";
}

TEST(Append, IsPrintedAndReadBack)
{
    for (const auto& op : {appended_hash(), appended_pair(), standard_operator("argmax_f32")}) {
        ASSERT_TRUE(op.append);
        EXPECT_TRUE(same(parse_operator("printed", print(op)), op)) << print(op);
        auto without = op;
        without.append.reset();
        EXPECT_FALSE(same(without, op));
    }
}

TEST(Append, AnotherNameOfTheStateIsOneFault)
{
    try {
        (void)parse_operator("own.seg",
                             "operator own(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b "
                             "append(q) q + x }");
        ADD_FAILURE() << "was accepted";
    } catch (const SpecError& error) {
        const std::string message = error.what();
        EXPECT_EQ(message.find("unknown name"), std::string::npos) << message;
        EXPECT_NE(message.find("give both one name: append(a) ..."), std::string::npos) << message;
    }
}

TEST(Append, NamesAStateAndWhatLiftReads)
{
    EXPECT_EQ(refusal("append(a) a + x + 0 * p"), "accepted");
    EXPECT_EQ(refusal("append(s) s + x"),
              "append calls its state 's', and combine calls the earlier one 'a'");
    EXPECT_EQ(refusal("append(a, b) a + x"), "append has one operand");
    EXPECT_EQ(refusal("append a + x"), "expected '(', found 'a'");
    EXPECT_EQ(refusal("append(a) a + b + x"),
              "unknown name 'b'; the names known here are a, index, position, segment, x, y, p");
    EXPECT_EQ(refusal("append(a) a + t[0]"), "'t' is not known here");
    EXPECT_EQ(refusal("append(a) a + y"), "append reads 'y', which lift does not read");
    EXPECT_EQ(refusal("append(a) a + f32(index)"), "append reads 'index', which lift does not read");
    EXPECT_EQ(refusal("append(x) x + 1", "x", "(x, b) x + b"), "append knows a parameter and a state 'x'");
    EXPECT_EQ(refusal("append(a) { let c = x; }"), "append does not set 'sum'");
    EXPECT_EQ(refusal("append(a) a + x\n  append(a) a + x"), "'append' is given twice");
}

struct Best : State {
    Field<int> value{"value", lowest<int>()};
    Field<std::int64_t> place{"place", highest<std::int64_t>()};
};

TEST(Append, IsTheSameInCpp)
{
    const auto text = argmax_that_takes("x > a.value");
    const auto built = define<Best>("argmax", [](auto& op) {
        Column<int> x(op, "x");
        Result<int> value(op, "value");
        Result<std::int64_t> place(op, "index");
        op.lift([&](Best& s) { s.value = x, s.place = index(); });
        op.combine([](Best a, Best b, Best& s) {
            auto later = let("later", b.value > a.value || (b.value == a.value && b.place < a.place));
            s.value = select(later, b.value, a.value);
            s.place = select(later, b.place, a.place);
        });
        op.append([&](Best a, Best& s) {
            auto later = let("later", x > a.value);
            s.value = select(later, x, a.value);
            s.place = select(later, index(), a.place);
        });
        op.finish([&](Best s) { value = s.value, place = s.place; });
    });
    EXPECT_TRUE(same(built, text)) << print(built) << print(text);

    const auto sum = define("sum", Field<float>("sum", 0), [](auto& op) {
        Column<float> x(op, "x");
        op.lift(x);
        op.combine([](auto a, auto b) { return a + b; });
        op.append([&](auto a) { return a + x; });
    });
    EXPECT_NE(print(sum).find("  append(a) a + x\n"), std::string::npos) << print(sum);
}

TEST(Append, IsRefutedByAStateAndAnElement)
{
    const auto wrong = argmax_that_takes("x >= a.value");
    const auto report = check_laws(wrong, kPatient);
    ASSERT_TRUE(report.refuted(Law::append));
    EXPECT_FALSE(report.refuted(Law::associative));
    EXPECT_EQ(print(*report.find(Law::append), wrong),
              "append is not combine of what lift makes:\n"
              "    a = {value = 0, place = 10}, of x = 0\n"
              "    lift(x) = {value = 0, place = 11}, of x = 0\n"
              "    append(a, x) = {value = 0, place = 11}\n"
              "    combine(a, lift(x)) = {value = 0, place = 10}");
    // An element that is no better than the identity still becomes the best one so far.
    const auto first = argmax_that_takes("x > a.value");
    const auto of_first = check_laws(first, kPatient);
    ASSERT_TRUE(of_first.refuted(Law::append));
    EXPECT_EQ(print(*of_first.find(Law::append), first),
              "append is not combine of what lift makes:\n"
              "    identity = {value = -2147483648, place = 9223372036854775807}\n"
              "    lift(x) = {value = -2147483648, place = 10}, of x = -2147483648\n"
              "    append(identity, x) = {value = -2147483648, place = 9223372036854775807}\n"
              "    combine(identity, lift(x)) = {value = -2147483648, place = 10}\n"
              "    (not refuted by 96 states and elements of small integers, 100 at most)");
}

TEST(Append, OfStandardOperatorsHolds)
{
    for (const auto& known : standard_operators())
        for (const auto type : known.types) {
            const auto op = standard_operator(known.name, type);
            if (!op.append)
                continue;
            const auto report = check_laws(op, kQuickLawOptions);
            EXPECT_FALSE(report.refuted(Law::append)) << print(*report.find(Law::append), op);
        }
    for (const auto& op : {appended_hash(), appended_pair()})
        EXPECT_EQ(check_laws(op, kPatient).find(Law::append)->verdict, Verdict::not_refuted);
}

TEST(Append, ThatIsRefutedServesNoRun)
{
    const auto wrong = argmax_that_takes("x >= a.value");
    const auto laws = quick_laws(wrong);
    EXPECT_FALSE(laws.has_sound_append);
    EXPECT_FALSE(make_problem(wrong, SegmentForm::offsets, 32, laws).op.append);
    const auto warnings = law_warnings(laws, wrong);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].substr(0, warnings[0].find('\n')),
              "operator argmax has an append that is not combine(a, lift); combine and lift serve instead");
    const auto right = argmax_that_takes("x > a.value || (x == a.value && a.place == highest(i64))");
    EXPECT_TRUE(make_problem(right, SegmentForm::offsets, 32, quick_laws(right)).op.append);
}

TEST(Append, OfAProductJoinsWhatOthersLift)
{
    const auto both = standard_operator("mean_variance_f32") & standard_operator("argmax_f32") &
                      standard_operator("sum_f32");
    ASSERT_TRUE(both.append);
    EXPECT_FALSE(check_laws(both, kPatient).refuted(Law::append));
    EXPECT_TRUE(same(parse_operator("printed", print(both)), both)) << print(both);
    EXPECT_FALSE((standard_operator("sum_f32") & standard_operator("max_f32")).append);
    const auto gathered = parse_operator("gathered.seg", R"(
operator gathered(c: i32, t: table f32) -> f32 {
  state most: f32 = -inf
  lift t[c]
  combine(a, b) max(a, b)
})");
    EXPECT_FALSE((standard_operator("argmax_f32") & gathered).append) << "which reads a table";
}

TEST(Append, KeepsPlacesInShortStates)
{
    const auto op = short_places(standard_operator("argmax_f32"));
    EXPECT_EQ(op.state[1].type, Type::i32);
    ASSERT_TRUE(op.append);
    EXPECT_NE(print(op).find("place = later ? i32(index) : a.place"), std::string::npos) << print(op);
}

}  // namespace
}  // namespace segfold::test::append_test
