// Printing and reading are inverse, and the printer adds no parenthesis that the tree does not need.
#include "dsl/printer.h"

#include <gtest/gtest.h>

#include <cctype>
#include <limits>
#include <string>
#include <vector>

#include "dsl/laws/laws.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/random_operator.h"

namespace segfold::printer_test {
namespace {

Expression read(const std::string& text) { return parse_expression("test", text); }

/// Prints `text` after reading it. Checks that the result reads as the same tree and prints alike.
std::string printed(const std::string& text)
{
    const auto tree = read(text);
    const auto again = print(tree);
    EXPECT_TRUE(same(read(again), tree)) << text << " -> " << again;
    EXPECT_EQ(print(read(again)), again);
    return again;
}

/// The text without each of its pairs of grouping parentheses, one pair at a time. Keeps the parentheses of
/// calls and of `-(-x)`.
std::vector<std::string> without_one_pair(const std::string& text)
{
    std::vector<std::string> results;
    for (std::size_t open = 0; open < text.size(); ++open) {
        const bool calls =
            open > 0 && (std::isalnum(static_cast<unsigned char>(text[open - 1])) || text[open - 1] == '_');
        const bool minus_of_minus = text.substr(open > 0 ? open - 1 : 0).starts_with("-(-");
        if (text[open] != '(' || calls || minus_of_minus)
            continue;
        std::size_t close = open;
        for (int depth = 0;; ++close) {
            depth += text[close] == '(' ? 1 : text[close] == ')' ? -1 : 0;
            if (depth == 0)
                break;
        }
        results.push_back(text.substr(0, open) + text.substr(open + 1, close - open - 1) +
                          text.substr(close + 1));
    }
    return results;
}

void expect_each_pair_is_needed(const std::string& text, const Expression& tree)
{
    for (const auto& shorter : without_one_pair(text)) {
        try {
            EXPECT_FALSE(same(read(shorter), tree)) << shorter << " says the same as " << text;
        } catch (const SpecError&) {
            // Without this pair, the text cannot be read at all.
        }
    }
}

struct Pair {
    const char* text;
    const char* expected;
};

class HandWritten : public testing::TestWithParam<Pair> {};

TEST_P(HandWritten, PrintsAs) { EXPECT_EQ(printed(GetParam().text), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Printer, HandWritten,
    testing::Values(
        Pair{"x-y+z", "x - y + z"}, Pair{"(x-y)+z", "x - y + z"}, Pair{"x-(y+z)", "x - (y + z)"},
        Pair{"x-(y-z)", "x - (y - z)"}, Pair{"x+(y+z)", "x + (y + z)"}, Pair{"((x))", "x"},
        Pair{"x*(y+z)*w", "x * (y + z) * w"}, Pair{"x*y+z*w", "x * y + z * w"},
        Pair{"x/(y/z)", "x / (y / z)"}, Pair{"x/y/z", "x / y / z"}, Pair{"x%y*z", "x % y * z"},
        Pair{"x%(y*z)", "x % (y * z)"}, Pair{"a&b|c^d", "a & b | c ^ d"},
        Pair{"a&(b|c)^d", "a & (b | c) ^ d"}, Pair{"a|b&c", "a | b & c"}, Pair{"a&b==c", "a & b == c"},
        Pair{"(a&b)==c", "(a & b) == c"}, Pair{"a<b==c<d", "a < b == c < d"},
        Pair{"a<(b==c)", "a < (b == c)"}, Pair{"a<b<c", "a < b < c"}, Pair{"a<(b<c)", "a < (b < c)"},
        Pair{"a<<b>>c", "a << b >> c"}, Pair{"a<<(b>>c)", "a << (b >> c)"}, Pair{"a<<b+c", "a << b + c"},
        Pair{"(a<<b)+c", "(a << b) + c"}, Pair{"a<b<<c", "a < b << c"}, Pair{"a>>b>c>>d", "a >> b > c >> d"},
        Pair{"a&&b||c&&d", "a && b || c && d"}, Pair{"a&&(b||c)&&d", "a && (b || c) && d"},
        Pair{"a||(b||c)", "a || (b || c)"}, Pair{"!a&&b", "!a && b"}, Pair{"!(a&&b)", "!(a && b)"},
        Pair{"!!a", "!!a"}, Pair{"~-~a", "~-~a"}, Pair{"-~-a", "-~-a"}, Pair{"-x", "-x"},
        Pair{"- -x", "-(-x)"}, Pair{"---x", "-(-(-x))"}, Pair{"-(x+y)", "-(x + y)"}, Pair{"-x+y", "-x + y"},
        Pair{"x- -y", "x - -y"}, Pair{"-1", "-1"}, Pair{"-(1)", "-1"}, Pair{"- -1", "-(-1)"},
        Pair{"-(-1)", "-(-1)"}, Pair{"-(-(-1))", "-(-(-1))"}, Pair{"a - -1", "a - -1"}, Pair{"a-1", "a - 1"},
        Pair{"a+-0.5", "a + -0.5"}, Pair{"-0.0", "-0.0"}, Pair{"-(-0.0)", "-(-0.0)"}, Pair{"-0", "0"},
        Pair{"~-1", "~-1"}, Pair{"!-1", "!-1"}, Pair{"-inf", "-inf"}, Pair{"-nan", "-nan"},
        Pair{"--inf", "-(-inf)"}, Pair{"c?x:y", "c ? x : y"}, Pair{"c?x:d?y:z", "c ? x : d ? y : z"},
        Pair{"c?d?x:y:z", "c ? d ? x : y : z"}, Pair{"(c?d:e)?x:y", "(c ? d : e) ? x : y"},
        Pair{"(c?x:y)+z", "(c ? x : y) + z"}, Pair{"z+(c?x:y)", "z + (c ? x : y)"},
        Pair{"-(c?x:y)", "-(c ? x : y)"}, Pair{"a||b?x:y", "a || b ? x : y"},
        Pair{"a||(b?x:y)", "a || (b ? x : y)"}, Pair{"c?x+1:y+2", "c ? x + 1 : y + 2"},
        Pair{"max( a,b )", "max(a, b)"}, Pair{"max((a),(b+c))", "max(a, b + c)"},
        Pair{"f(c?x:y)", "f(c ? x : y)"}, Pair{"f()", "f()"}, Pair{"t[i+1]", "t[i + 1]"},
        Pair{"t[(i)]*x", "t[i] * x"}, Pair{"t[t[i]]", "t[t[i]]"}, Pair{"a . mean", "a.mean"},
        Pair{"-a.mean", "-a.mean"}, Pair{"f32(n)/f32(m)", "f32(n) / f32(m)"}, Pair{"i64(-1)", "i64(-1)"},
        Pair{"lowest( i8 )", "lowest(i8)"}, Pair{"true&&!false", "true && !false"}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, HandWritten,
    testing::Values(Pair{"0", "0"}, Pair{"007", "7"}, Pair{"0x1F", "31"}, Pair{"0XfF", "255"},
                    Pair{"18446744073709551615", "18446744073709551615"},
                    Pair{"-9223372036854775808", "-9223372036854775808"}, Pair{"0.5", "0.5"},
                    Pair{"1.", "1.0"}, Pair{"1.e2", "100.0"}, Pair{"1e2", "100.0"}, Pair{"1e-3", "0.001"},
                    Pair{"1E+30", "1e+30"}, Pair{"123456789.0", "123456789.0"}, Pair{"0.1", "0.1"},
                    Pair{"4.9e-324", "5e-324"}, Pair{"1.7976931348623157e308", "1.7976931348623157e+308"},
                    Pair{"0e5", "0.0"}, Pair{"0.1000000000000000055511151231257827", "0.1"},
                    Pair{"3.14159265358979323846", "3.141592653589793"}));

TEST(Printer, RealsReadBackAsTheSameBits)
{
    std::mt19937_64 random(7);
    for (int i = 0; i < 20000; ++i) {
        const auto value = std::bit_cast<double>(random());
        if (!(value - value == 0))
            continue;
        const auto tree = read(print_real(value));
        ASSERT_EQ(tree->kind, ExpressionKind::real) << print_real(value);
        ASSERT_EQ(std::bit_cast<std::uint64_t>(tree->real), std::bit_cast<std::uint64_t>(value))
            << print_real(value);
    }
    EXPECT_EQ(print_real(1.0), "1.0");
    EXPECT_EQ(print_real(-0.0), "-0.0");
    EXPECT_EQ(print_real(1e16), "1e+16");
}

TEST(Printer, IntegersFromCppReadBack)
{
    for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                     std::int64_t{0}, std::numeric_limits<std::int64_t>::max()})
        EXPECT_TRUE(same(read(print(Expression(value))), Expression(value))) << value;
    const std::uint64_t most = ~std::uint64_t{0};
    EXPECT_EQ(print(Expression(most)), "18446744073709551615");
    EXPECT_EQ(print(Expression(std::numeric_limits<double>::infinity())), "inf");
    EXPECT_EQ(print(Expression(-std::numeric_limits<double>::infinity())), "-inf");
    EXPECT_EQ(print(Expression(std::numeric_limits<double>::quiet_NaN())), "nan");
}

TEST(Printer, RandomExpressionsReadBackWithNoParenthesisToSpare)
{
    for (std::uint32_t seed = 0; seed < 3000; ++seed) {
        RandomOperator random(seed);
        const auto tree = random.make_expression(random.any_type(), 5);
        const auto text = print(tree);
        ASSERT_TRUE(same(read(text), tree)) << "seed " << seed << ": " << text;
        ASSERT_EQ(print(read(text)), text);
        expect_each_pair_is_needed(text, tree);
    }
}

TEST(Printer, RandomOperatorsReadBack)
{
    for (std::uint32_t seed = 0; seed < 2000; ++seed) {
        const auto op = RandomOperator(seed).make(seed % 3 == 0);
        const auto text = print(op);
        const auto again = parse_operator("random", text);
        ASSERT_TRUE(same(again, op)) << "seed " << seed << ":\n" << text << "\nread as\n" << print(again);
        ASSERT_EQ(print(again), text);
    }
}

TEST(Printer, StandardOperatorsReadBackForEveryType)
{
    int count = 0;
    for (const auto& standard : standard_operators())
        for (const Type type : standard.types) {
            const auto op = standard_operator(standard.name, type);
            const auto text = print(op);
            const auto again = parse_operator("printed", text);
            EXPECT_TRUE(same(again, op)) << text;
            EXPECT_EQ(print(again), text);
            EXPECT_EQ(again.description, op.description);
            ++count;
        }
    EXPECT_GT(count, 150);
}

TEST(Printer, OperatorInFull)
{
    const std::string text = R"(# Mean of the values that are not negative.
# An empty segment has none.
operator positive_mean(x: f32, weight: table f64) -> (mean: f64, n: i32) {
  state { sum: f64 = 0; n: i32 = 0 }
  lift {
    let counts = x >= 0;
    sum = counts ? f64(x) * weight[position] : 0;
    n = counts ? 1 : 0;
  }
  combine(early, late) {
    sum = early.sum + late.sum;
    n = early.n + late.n;
  }
  finish {
    mean = sum / f64(n);
    n = n;
  }
  empty {
    mean = nan;
    n = 0;
  }
  laws commutative
}
)";
    EXPECT_EQ(print(parse_operator("test", text)), text);
}

TEST(Printer, OneFieldIsWrittenShort)
{
    const std::string text = R"(operator root(x: f32) -> f32 {
  state sum: f32 = 0
  lift x * x
  combine(p, q) p + q
  finish sqrt(sum)
  empty -1
  laws commutative, idempotent
}
)";
    EXPECT_EQ(print(parse_operator("test", text)), text);
    EXPECT_EQ(print(parse_operator("test", R"(
        operator root(x: f32) -> (result: f32) {
            laws idempotent, commutative
            empty { result = -1 }
            finish { result = sqrt(sum) }
            combine(p, q) { sum = p.sum + q.sum }
            lift { sum = x * x; }
            state { sum: f32 = 0; }
        })")),
              text);
}

/// Numbers in place of fields of the state keep the fields' types.
TEST(Printer, OperatorsThatLeaveTheirIdentityOutReadAsTheyWere)
{
    std::vector<Operator> operators;
    for (const auto& known : standard_operators())
        operators.push_back(standard_operator(known.name));
    for (const std::string finish :
         {"mean = sum / f32(n); peak = peak", "mean = n > 0 ? sum : peak; peak = f32(f64(peak))",
          "let m = n; mean = f32(m + 1); peak = f32(f16(sum))",
          "mean = is_any ? 1.0 : sum; peak = f32(is_any)", "mean = f32(big * 2); peak = max(peak, -sum)",
          "mean = f32(bf16(-peak)); peak = f32(big) + f32(n) / sum"})
        operators.push_back(parse_operator(
            "test",
            "operator f(x: f32) -> (mean: f32, peak: f32) {\n  state { n: i32 = 0; big: u64 = 0; sum: "
            "f32 = 0; peak: f32 = -inf; is_any: bool = false }\n  lift { n = 1; big = 1; sum = x; peak "
            "= x; is_any = true }\n  combine(a, b) { n = a.n + b.n; big = a.big + b.big; sum = a.sum + "
            "b.sum; peak = max(a.peak, b.peak); is_any = a.is_any || b.is_any }\n  finish { " +
                finish + " }\n}"));
    for (const auto& op : operators) {
        const auto semigroup = without_identity(op);
        EXPECT_TRUE(same(parse_printed(print(semigroup)), semigroup)) << print(semigroup);
    }
}

TEST(Printer, FieldsOfOperandsTakeTheirOperatorsNames)
{
    const auto op = parse_operator("test",
                                   "operator f(x: f32) -> (p: f32, q: f32) { state { p: f32; q: f32 } "
                                   "lift { p = x; q = x } combine(l, r) { p = l.p; q = r.q } }");
    EXPECT_EQ(print(op.combine.assignments[1].value, &op), "r.q");
    EXPECT_EQ(print(op.combine.assignments[1].value), "b.q");
}

}  // namespace
}  // namespace segfold::printer_test
