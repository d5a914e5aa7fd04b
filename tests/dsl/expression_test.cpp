// The C++ operators build the same trees as the text.
#include "dsl/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dsl/text/parser.h"
#include "tests/common/message_of.h"

namespace segfold::expression_test {
namespace {

Expression read(const std::string& text) { return parse_expression("test", text); }

TEST(Expression, OperatorsBuildWhatTheTextSays)
{
    const auto x = make_name("x"), y = make_name("y"), c = make_name("c");
    EXPECT_TRUE(same(x * 2 + 0.5, read("x * 2 + 0.5")));
    EXPECT_TRUE(same(1 - x / y % 3, read("1 - x / y % 3")));
    EXPECT_TRUE(same((x & 255) | (y ^ ~x), read("(x & 255) | (y ^ ~x)")));
    EXPECT_TRUE(same((x << 3) >> y, read("x << 3 >> y")));
    EXPECT_TRUE(same(x == y && x != 1, read("x == y && x != 1")));
    EXPECT_TRUE(same(x < y || !(x <= y), read("x < y || !(x <= y)")));
    EXPECT_TRUE(same((x > y) == (x >= y), read("(x > y) == (x >= y)")));
    EXPECT_TRUE(same(select(c, -x, true), read("c ? -x : true")));
    EXPECT_TRUE(same(call("fma", {x, y, 1}), read("fma(x, y, 1)")));
    EXPECT_TRUE(same(convert(Type::bf16, x), read("bf16(x)")));
    EXPECT_TRUE(same(lowest(Type::i8) + highest(Type::u16), read("lowest(i8) + highest(u16)")));
    EXPECT_TRUE(same(epsilon(Type::f32) * infinity(), read("epsilon(f32) * inf")));
    EXPECT_TRUE(same(not_a_number(), read("nan")));
    EXPECT_TRUE(same(make_gather("t", x + 1), read("t[x + 1]")));
}

TEST(Expression, PlainNumbersAreLiterals)
{
    EXPECT_TRUE(same(Expression(true), read("true")));
    EXPECT_TRUE(same(Expression(-17), read("-17")));
    EXPECT_TRUE(same(Expression(0.25f), read("0.25")));
    EXPECT_TRUE(same(Expression(std::numeric_limits<std::int64_t>::min()), read("-9223372036854775808")));
    EXPECT_TRUE(same(Expression(std::numeric_limits<std::uint64_t>::max()), read("0xffffffffffffffff")));
    EXPECT_TRUE(same(Expression(-std::numeric_limits<double>::infinity()), read("-inf")));
    EXPECT_TRUE(same(Expression(-std::numeric_limits<double>::quiet_NaN()), read("nan")));
    static_assert(!std::is_convertible_v<const char*, Expression>, "a text is not a truth value");
}

TEST(Expression, MinusJoinsANumber)
{
    EXPECT_EQ(make_unary("-", Expression(1))->kind, ExpressionKind::integer);
    EXPECT_TRUE(make_unary("-", Expression(1))->negative);
    EXPECT_EQ(make_unary("-", Expression(0.5))->real, -0.5);
    EXPECT_TRUE(std::signbit(make_unary("-", Expression(0.0))->real));
    EXPECT_TRUE(same(make_unary("-", Expression(0)), Expression(0)));
    EXPECT_EQ(make_unary("-", Expression(-1))->kind, ExpressionKind::unary);
    EXPECT_EQ(make_unary("-", Expression(-0.0))->kind, ExpressionKind::unary);
    EXPECT_EQ(make_unary("-", infinity())->kind, ExpressionKind::unary);
}

TEST(Expression, SameTellsTreesApart)
{
    const char* texts[] = {"x",      "y",          "1",           "-1",          "1.0",       "-0.0",
                           "0.0",    "true",       "false",       "inf",         "nan",       "-x",
                           "~x",     "x + y",      "y + x",       "x - y",       "f(x)",      "f(x, y)",
                           "f32(x)", "f64(x)",     "t[x]",        "u[x]",        "a.x",       "b.x",
                           "a.y",    "lowest(i8)", "highest(i8)", "lowest(i16)", "x ? y : 1", "x ? 1 : y"};
    for (const char* left : texts)
        for (const char* right : texts)
            EXPECT_EQ(same(read(left), read(right)), std::string(left) == right) << left << " and " << right;
    EXPECT_TRUE(same(Expression(), Expression()));
    EXPECT_FALSE(same(Expression(), read("x")));
    EXPECT_TRUE(same(read("x  +\n y"), read("x + y"))) << "positions do not count";
    EXPECT_FALSE(same(with_type(read("x"), {}, Type::f32), read("x"))) << "types do";
}

TEST(Expression, DepthAndSizeCountTheTree)
{
    EXPECT_EQ(read("x")->depth, 1);
    EXPECT_EQ(read("x")->size, 1);
    EXPECT_EQ(read("x + y * 2")->depth, 3);
    EXPECT_EQ(read("x + y * 2")->size, 5);
    // A value used twice counts twice, since every walk visits it twice.
    Expression doubled = make_name("x");
    for (int i = 0; i < 100; ++i)
        doubled = doubled + doubled;
    EXPECT_EQ(doubled->depth, 101);
    EXPECT_EQ(doubled->size, kMostNodes + 1);
}

TEST(Expression, TreesTooDeepToWalkAreNotBuilt)
{
    Expression chain = make_name("x");
    EXPECT_THROW(
        {
            for (int i = 0; i < 1000000; ++i)
                chain = chain + 1;
        },
        SpecError);
    EXPECT_LT(chain->depth, 10000);
}

TEST(Expression, MadeOfNothingIsAFault)
{
    const std::string refused =
        "an expression is made of one that has no value: it was moved from, or is Expression(); use the one "
        "that it was moved to";
    EXPECT_EQ(test::message_of<SpecError>([] { (void)make_unary("-", Expression()); }), refused);
    EXPECT_EQ(test::message_of<SpecError>([] { (void)(make_name("x") + Expression()); }), refused);
    auto x = make_name("x");
    const auto y = std::move(x);
    EXPECT_EQ(test::message_of<SpecError>([&] { (void)(y * x); }),
              refused)  // NOLINT(bugprone-use-after-move)
        << "what this test is about";
}

TEST(Expression, FunctionsAndPrecedences)
{
    EXPECT_EQ(function_names().size(), 24u);
    for (const auto name : function_names()) {
        ASSERT_NE(find_function(name), nullptr);
        EXPECT_EQ(find_function(name)->name, name);
    }
    EXPECT_EQ(find_function("sqr"), nullptr);
    EXPECT_EQ(precedence("**"), 0);
    EXPECT_LT(precedence("||"), precedence("&&"));
    EXPECT_LT(precedence("&&"), precedence("|"));
    EXPECT_LT(precedence("&"), precedence("=="));
    EXPECT_LT(precedence("=="), precedence("<"));
    EXPECT_LT(precedence("<"), precedence("<<"));
    EXPECT_LT(precedence("<<"), precedence("+"));
    EXPECT_LT(precedence("+"), precedence("%"));
}

}  // namespace
}  // namespace segfold::expression_test
