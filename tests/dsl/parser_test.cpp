// Reads operators, and refuses wrong texts quickly. The messages are in tests/errors.
#include "dsl/text/parser.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "dsl/printer.h"
#include "tests/common/message_of.h"

namespace segfold::parser_test {
namespace {

std::string repeat(const std::string& text, std::size_t times)
{
    std::string result;
    for (std::size_t i = 0; i < times; ++i)
        result += text;
    return result;
}

/// An f32 operator whose lift is `expression`.
std::string with_lift(const std::string& expression)
{
    return "operator f(x: f32) -> f32 { state s: f32 = 0 lift " + expression + " combine(a, b) a + b }";
}

#ifdef __OPTIMIZE__
constexpr std::clock_t kLongest = CLOCKS_PER_SEC;
#else
constexpr std::clock_t kLongest = 10 * CLOCKS_PER_SEC;
#endif

/// The first line of the message for a wrong `text`. Refusing must be quick.
std::string refusal(const std::string& text)
{
    const auto start = std::clock();
    std::string message = "accepted";
    try {
        parse_operator("test", text);
    } catch (const SpecError& error) {
        message = error.what();
        EXPECT_LT(message.size(), 3000u);
    }
    EXPECT_LT(std::clock() - start, kLongest);
    return message.substr(0, message.find('\n'));
}

/// The first line of the message without its place.
std::string reason(const std::string& text)
{
    const auto message = refusal(text);
    return message.substr(message.find(": ") + 2);
}

const std::string kTooDeep = "the expression nests deeper than 256 levels";
const std::string kTooMany = "the operator has more than 20000 numbers, names and operations";

TEST(Parser, ReadsEveryPart)
{
    const auto op = parse_operator("test", R"(
# Mean of the squares,
#   with a hint at their number.
operator mean_square(x: f32, t: table f64) -> (mean: f64, n: i32) {
  state   { sum: f64 = 0; n: i32 = 0 }   # after the operator's own text comments say nothing
  lift    { let y = f64(x) * t[position]; sum = y * y; n = 1 }
  combine(left, right) { sum = left.sum + right.sum; n = left.n + right.n }
  finish  { mean = sum / f64(n); n = n }
  empty   { mean = nan; n = 0 }
  laws    commutative
})");
    EXPECT_EQ(op.name, "mean_square");
    EXPECT_EQ(op.description, "Mean of the squares,\nwith a hint at their number.");
    ASSERT_EQ(op.parameters.size(), 2u);
    EXPECT_FALSE(op.parameters[0].table);
    EXPECT_TRUE(op.parameters[1].table);
    EXPECT_EQ(op.parameters[1].type, Type::f64);
    ASSERT_EQ(op.results.size(), 2u);
    EXPECT_EQ(op.results[1].type, Type::i32);
    ASSERT_EQ(op.state.size(), 2u);
    EXPECT_EQ(print(*op.state[0].identity), "0");
    ASSERT_EQ(op.lift.lets.size(), 1u);
    EXPECT_EQ(op.lift.lets[0].name, "y");
    EXPECT_EQ(print(op.lift.assignments[0].value), "y * y");
    EXPECT_EQ(op.earlier, "left");
    EXPECT_EQ(op.later, "right");
    EXPECT_TRUE(op.finish && op.empty);
    EXPECT_TRUE(op.laws.commutative);
    EXPECT_FALSE(op.laws.idempotent);
    EXPECT_TRUE(op.has_identity());
    EXPECT_TRUE(op.allows_empty());
}

TEST(Parser, ATextWithoutANameIsCalledOperator)
{
    EXPECT_EQ(
        test::message_of<SpecError>([] { (void)parse_operator("", "operator f(x: f33)"); }).substr(0, 16),
        "operator:1:15: u");
}

TEST(Parser, PositionsAreWhereTheWordsStand)
{
    const auto op = parse_operator("test",
                                   "operator f(x: f32) -> f32 {\n\tstate s: f32 = 0\r\n  lift x *\n    2\n"
                                   "  combine(a, b) a + b\n}");
    EXPECT_EQ(op.position.line, 1);
    EXPECT_EQ(op.position.column, 10);
    EXPECT_EQ(op.state[0].position.line, 2);
    EXPECT_EQ(op.state[0].position.column, 8);
    const auto& product = op.lift.assignments[0].value;
    EXPECT_EQ(product->position.line, 3);
    EXPECT_EQ(product->position.column, 10);
    EXPECT_EQ(product.argument(1)->position.line, 4);
    EXPECT_EQ(product.argument(1)->position.column, 5);
}

TEST(Parser, PartsStandInAnyOrderAndOnOneLine)
{
    const auto op = parse_operator("test",
                                   "operator f(x: f32) -> f32 { laws idempotent combine(p, q) max(p, q) "
                                   "finish -s lift abs(x) empty -1 state s: f32 }");
    EXPECT_FALSE(op.has_identity());
    EXPECT_TRUE(op.allows_empty());
    EXPECT_EQ(print(op.finish->assignments[0].value), "-s");
}

TEST(Parser, PassesOverAByteOrderMark)
{
    const std::string text = "operator f(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }";
    EXPECT_EQ(print(parse_operator("test", "\xEF\xBB\xBF" + text)), print(parse_operator("test", text)));
}

TEST(Parser, WithoutResultsTheStateIsTheResult)
{
    const auto op =
        parse_operator("test",
                       "operator f(x: f32) { state { p: f32 = 0; n: i64 = 0 } lift { p = x; n = 1 } "
                       "combine(a, b) { p = a.p + b.p; n = a.n + b.n } }");
    ASSERT_EQ(op.results.size(), 2u);
    EXPECT_EQ(op.results[1].name, "n");
    EXPECT_EQ(op.results[1].type, Type::i64);
    EXPECT_FALSE(op.finish);
}

/// As dsl/README.md states, operators and results may have these names, and nothing else may.
TEST(Parser, WordsOfTheLanguageNameOperatorsAndResultsAlone)
{
    const auto text = [](const std::string& op, const std::string& column, const std::string& field) {
        return "operator " + op + "(" + column + ": i32) -> (" + op + ": i32, count: i32) { state " + field +
               ": i32 = 0 lift " + column + " combine(a, b) a + b finish { " + op + " = " + field +
               "; count = 1 } }";
    };
    for (const std::string word : {"lift", "map", "operator", "true", "index", "max", "f32"}) {
        EXPECT_EQ(parse_operator("text", text(word, "x", "s")).name, word);
        EXPECT_THROW((void)parse_operator("text", text("f", word, "s")), SpecError) << word;
        EXPECT_THROW((void)parse_operator("text", text("f", "x", word)), SpecError) << word;
    }
    EXPECT_THROW((void)parse_operator("text", text("__f", "x", "s")), SpecError);
}

TEST(Parser, GenericTypeStandsForTheOneGiven)
{
    const std::string text =
        "operator f(x: T) -> T { state s: T = lowest(T) lift T(i64(x)) combine(a, b) max(a, b) }";
    for (const Type type : {Type::i8, Type::u64, Type::f16, Type::f64}) {
        const auto op = parse_operator("test", text, type);
        EXPECT_EQ(op.parameters[0].type, type);
        EXPECT_EQ(print(*op.state[0].identity), "lowest(" + std::string(name(type)) + ")");
        EXPECT_EQ(op.lift.assignments[0].value->type, type);
    }
    EXPECT_EQ(refusal(text), "test:1:15: this operator is written for a type T");
}

TEST(Parser, LongTextsAreRefused)
{
    EXPECT_EQ(refusal(std::string((1 << 20) + 1, ' ')),
              "test: the text is 1048577 bytes long; at most 1048576 are read");
    EXPECT_EQ(refusal(std::string(1 << 20, ' ')),
              "test:1:1048577: expected 'operator', found the end of the text");
    EXPECT_EQ(refusal(std::string(1 << 20, '\n')),
              "test:1048577:1: expected 'operator', found the end of the text");
    EXPECT_EQ(refusal(std::string(1 << 20, 'x')),
              "test:1:1: a name of 1048576 letters; names have at most 64");
    EXPECT_EQ(refusal(std::string(1 << 20, '7')),
              "test:1:1: expected 'operator', found '" + std::string(64, '7') + "...'");
    EXPECT_EQ(refusal(std::string(1 << 20, '(')), "test:1:1: expected 'operator', found '('");
    EXPECT_EQ(refusal(std::string(1000000, '.')), "test:1:1: expected 'operator', found '.'");
    EXPECT_EQ(refusal("1" + std::string(1000000, '.')),
              "test:1:1: '1" + std::string(63, '.') + "...' is not a number");
}

TEST(Parser, DeepNestingIsRefused)
{
    const std::size_t n = 100000;
    const auto first = [](const std::string& expression) { return reason(with_lift(expression)); };
    EXPECT_EQ(refusal(with_lift(repeat("(", n) + "x" + repeat(")", n))), "test:1:563: " + kTooDeep);
    EXPECT_EQ(first(repeat("(", n)), kTooDeep);
    EXPECT_EQ(first(repeat("-", n) + "x"), kTooDeep);
    EXPECT_EQ(first(repeat("!", n) + "x"), kTooDeep);
    EXPECT_EQ(first(repeat("~(", n)), kTooDeep);
    EXPECT_EQ(first(repeat("abs(", n)), kTooDeep);
    EXPECT_EQ(first(repeat("f32(", n)), kTooDeep);
    EXPECT_EQ(first(repeat("t[", n)), kTooDeep);
    EXPECT_EQ(first(repeat("x ? x : ", n) + "x"), kTooDeep);
    EXPECT_EQ(first(repeat("x ? ", n)), kTooDeep);
    EXPECT_EQ(first("x" + repeat(" + x", n)), kTooDeep);
    EXPECT_EQ(first(repeat("x - (", n)), kTooDeep);
    EXPECT_EQ(first(repeat("x || x && x | x ^ x & x == x < x << x + x * (", 20000)), kTooDeep);
    EXPECT_EQ(first(std::string(1000000, '(')), kTooDeep);
}

TEST(Parser, TheDeepestAllowedNestingIsRead)
{
    const auto reads = [](const std::string& expression) {
        const auto op = parse_operator("test", with_lift(expression));
        const auto text = print(op);
        const auto again = parse_operator("test", text);
        EXPECT_TRUE(same(op, again));
        EXPECT_EQ(print(again), text);
    };
    reads("x" + repeat(" + x", 255));
    reads(repeat("x - (", 255) + "x" + repeat(")", 255));
    reads(repeat("-", 255) + "x");
    reads(repeat("-", 256) + "1");
    reads(repeat("-abs(", 127) + "-x" + repeat(")", 127));
    reads(repeat("f32(", 255) + "x" + repeat(")", 255));
    reads(repeat("x > 0 ? x : ", 254) + "x");
    reads(repeat("(", 500) + "x" + repeat(")", 500));
    EXPECT_EQ(reason(with_lift("x" + repeat(" + x", 256))), kTooDeep);
    EXPECT_EQ(reason(with_lift(repeat("x - (", 256) + "x" + repeat(")", 256))), kTooDeep);
}

TEST(Parser, WideTextsAreRefused)
{
    // Each statement is shallow, but there are too many in all.
    const std::string state = "operator f(x: f32) -> f32 { state s: f32 = 0 combine(a, b) a + b lift { ";
    EXPECT_EQ(reason(state + repeat("s = x + x; ", 20000)), kTooMany);
    std::string lets = state;
    for (int i = 0; i < 30000; ++i)
        lets += "let l" + std::to_string(i) + " = x;";
    EXPECT_EQ(reason(lets), kTooMany);
    EXPECT_EQ(reason(with_lift("max(" + repeat("x, ", 300000) + "x)")), kTooMany);

    std::string parameters, fields;
    for (int i = 0; i < 90000; ++i) {
        parameters += (i == 0 ? "p" : ",p") + std::to_string(i) + ":u8";
        fields += "f" + std::to_string(i) + ":u8;";
    }
    EXPECT_EQ(refusal("operator f(" + parameters + ") { state s: u8 lift p0 combine(a, b) a }"),
              "test:1:1950: operator f has 90000 parameters");
    EXPECT_EQ(refusal("operator f(x: u8) { state {" + fields + "} lift x combine(a, b) a }"),
              "test:1:1966: operator f has 90000 state fields");
    EXPECT_EQ(refusal("operator f(x: u8) -> (" + parameters + ") { state s: u8 lift x combine(a, b) a }"),
              "test:1:1961: operator f has 90000 results");
}

TEST(Parser, ManyNamesAreNotAllListed)
{
    std::string text = "operator f(x: f32) -> f32 { state s: f32 = 0 combine(a, b) a + b lift { ";
    for (int i = 100; i < 9000; ++i)
        text += "let local" + std::to_string(i) + " = x;";
    text += "s = y } }";
    EXPECT_EQ(
        reason(text),
        "unknown name 'y'; the names known here are index, local100, local1000, local1001, local1002, "
        "local1003, "
        "local1004, local1005, local1006, local1007, local1008, local1009, local101, local1010, local1011, "
        "local1012, local1013, local1014, local1015, local1016 and 8884 more");
}

/// The whole message for a wrong `text`.
std::string whole_message(const std::string& text)
{
    return test::message_of<SpecError>([&] { parse_operator("test", text); });
}

TEST(Parser, BytesThatAreNoTextAreNamed)
{
    using namespace std::string_literals;
    EXPECT_EQ(whole_message("operator\0"s),
              "test:1:9: unexpected byte 0\n    operator\\x00\n            ^^^^");
    EXPECT_EQ(whole_message("operator\x1b[31m"),
              "test:1:9: unexpected byte 27\n    operator\\x1b[31m\n            ^^^^");
    EXPECT_EQ(whole_message("op\xff\xfe"), "test:1:3: unexpected byte 255\n    op\\xff\\xfe\n      ^^^^");
    EXPECT_EQ(whole_message("# gr\xc3\xb6\xc3\x9f"
                            "e\n\xc3\xa9\xc3"),
              "test:2:1: unexpected 'é'\n    é\\xc3\n    ^  only comments may hold more than ASCII");
    EXPECT_EQ(whole_message("operator f(x: f32) {\r\n  state $\r\n}"),
              "test:2:9: unexpected '$'\n      state $\n            ^");
    EXPECT_EQ(whole_message("operator\tf\t(x @"),
              "test:1:15: unexpected '@'\n    operator f (x @\n                  ^");
    EXPECT_EQ(whole_message("\xf0\x9f\x98\x80"),
              "test:1:1: unexpected '\xf0\x9f\x98\x80'\n    \xf0\x9f\x98\x80\n    ^  only comments may hold "
              "more than ASCII");
    EXPECT_EQ(whole_message("\xed\xa0\x80"), "test:1:1: unexpected byte 237\n    \\xed\\xa0\\x80\n    ^^^^");
    EXPECT_EQ(whole_message("op\u202e"),
              "test:1:3: unexpected '\\u202e'\n    op\\u202e\n      ^^^^^^  only comments may hold more than "
              "ASCII");
}

TEST(Parser, ControlCharactersInCommentsAreRefused)
{
    using namespace std::string_literals;
    const auto lone = "a carriage return that no newline follows\n    "s;
    const auto right = "  lines end with a newline, or with a carriage return and a newline"s;
    EXPECT_EQ(whole_message("# sum\r int evil;\noperator f"),
              "test:1:6: " + lone + "# sum\\x0d int evil;\n         ^^^^" + right);
    EXPECT_EQ(whole_message("operator\rf"), "test:1:9: " + lone + "operator\\x0df\n            ^^^^" + right);
    EXPECT_EQ(whole_message("#\r\r\n"), "test:1:2: " + lone + "#\\x0d\n     ^^^^" + right);
    const auto seen = "' in a comment\n    "s;
    const auto hint = "  comments are UTF-8 and hold what can be seen, blanks and tabs"s;
    const struct {
        std::string character, shown;
    } controls[] = {{"\f", "\\x0c"},       {"\v", "\\x0b"},       {"\0"s, "\\x00"},
                    {"\x1b", "\\x1b"},     {"\u0085", "\\u0085"}, {"\u2028", "\\u2028"},
                    {"\u2029", "\\u2029"}, {"\u202e", "\\u202e"}};
    for (const auto& [character, shown] : controls)
        EXPECT_EQ(whole_message("# \u00fc " + character + "\noperator f"),
                  "test:1:6: the control character '" + shown + seen + "# \u00fc " + shown + "\n        " +
                      std::string(shown.size(), '^') + hint);
    EXPECT_EQ(whole_message("operator # \xff"),
              "test:1:12: the byte '\\xff" + seen + "operator # \\xff\n               ^^^^" + hint);
}

TEST(Parser, WindowsLineEndsAndTabsAreText)
{
    const auto op = parse_operator(
        "test",
        "# The\tsum.\r\n# \u2211 \\\r\noperator f(x: f32) -> f32 {\r\n  state s: f32 = 0 # a\r\n"
        "  lift x\r\n  combine(a, b) a + b\r\n}\r\n# end\r");
    EXPECT_EQ(op.description, "The\tsum.\n\u2211 \\");
    EXPECT_EQ(parse_operator("printed", print(op)).description, op.description);
}

TEST(Parser, DescriptionsBuiltInCppPrintAsComments)
{
    auto op = parse_operator("test", "operator f(x: f32) -> f32 { state s: f32 lift x combine(a, b) a }");
    const auto plain = print(op);
    op.description = "one\r\ntwo\rthree\n\nfour\f\u2028\xff\n";
    EXPECT_EQ(print(op), "# one\n# two\\x0dthree\n# \n# four\\x0c\\u2028\\xff\n" + plain);
    EXPECT_TRUE(same(parse_operator("printed", print(op)), op));
}

TEST(Parser, ShortFormFillsInTheRest)
{
    ShortForm form;
    form.combine = "max(a, b)";
    form.type = Type::i32;
    form.identity = "lowest(i32)";
    EXPECT_EQ(print(parse_short_form(form)),
              "operator expression(x: i32) -> i32 {\n  state value: i32 = lowest(i32)\n  lift x\n"
              "  combine(a, b) max(a, b)\n}\n");
    form = {"a + b", Type::f64, "0", "x * x", "sqrt(value)", true};
    const auto op = parse_short_form(form);
    EXPECT_EQ(print(op),
              "operator expression(x: f64) -> f64 {\n  state value: f64 = 0\n  lift x * x\n"
              "  combine(a, b) a + b\n  finish sqrt(value)\n  laws commutative\n}\n");
    EXPECT_TRUE(same(parse_operator("printed", print(op)), op));
    form = {};
    form.combine = "b";
    EXPECT_FALSE(parse_short_form(form).has_identity());
    // Without initializers, a compiler would warn about members that are left out.
    EXPECT_TRUE(same(parse_short_form({.combine = "a + b", .identity = "0"}),
                     parse_short_form({"a + b", Type::f32, "0", "", "", false})));
}

TEST(Parser, ShortFormMessagesNameTheirPart)
{
    const auto message = [](const ShortForm& form) {
        return test::message_of<SpecError>([&] { parse_short_form(form); });
    };
    EXPECT_EQ(message({"a + c", Type::f32, "0", "", "", false}),
              "combine:1:5: unknown name 'c'; the names known here are a, b\n    a + c\n        ^");
    EXPECT_EQ(message({"a + b", Type::u8, "-1", "", "", false}),
              "identity:1:1: -1 does not fit in u8\n    -1\n    ^  u8 holds 0 to 255");
    EXPECT_EQ(message({"a + b", Type::f32, "0", "y", "", false}),
              "lift:1:1: unknown name 'y'; the names known here are index, position, segment, x\n"
              "    y\n    ^");
    EXPECT_EQ(
        message({"a + b", Type::f32, "0", "x", "valu", false}),
        "finish:1:1: unknown name 'valu'; the names known here are value, length, segment; did you mean "
        "'value'?\n    valu\n    ^^^^");
    EXPECT_EQ(message({"a + b }", Type::f32, "", "", "", false}),
              "combine:1:7: expected the end of the text, found '}'\n    a + b }\n          ^");
    EXPECT_EQ(message({"a >", Type::f32, "", "", "", false}),
              "combine:1:4: expected an expression, found the end of the text\n    a >\n       ^");
    EXPECT_EQ(test::message_of<SpecError>([] {
                  parse_short_form({.combine = "a + c", .identity = "0"},
                                   {"--op", "--identity", "--lift", "--finish"});
              }),
              "--op:1:5: unknown name 'c'; the names known here are a, b\n    a + c\n        ^");
}

TEST(Parser, ExpressionsAreReadWithoutTypes)
{
    const auto tree = parse_expression("stage", "block_threads * items_per_thread >= 1024 && !commutative");
    EXPECT_EQ(tree->kind, ExpressionKind::binary);
    EXPECT_EQ(tree->symbol, "&&");
    EXPECT_FALSE(tree->type);
    EXPECT_THROW(parse_expression("stage", ""), SpecError);
    EXPECT_THROW(parse_expression("stage", "a b"), SpecError);
}

}  // namespace
}  // namespace segfold::parser_test
