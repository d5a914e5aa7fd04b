// Tests the operators that check() returns, and its errors for operators built in C++.
#include "dsl/check/check.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/message_of.h"
#include "tests/common/random_operator.h"

namespace segfold::check_test {
namespace {

Type type_of(const std::string& expression)
{
    const auto op =
        parse_operator("test",
                       "operator f(b: bool, h: f16, x: f32, d: f64, n: i32, l: i64, u: u8, t: table f64) "
                       "-> bool { state s: bool lift { let v = " +
                           expression + "; s = true } combine(p, q) p }");
    return *op.lift.lets[0].value->type;
}

TEST(Check, ExpressionsHaveTheTypeOfTheirParts)
{
    EXPECT_EQ(type_of("x"), Type::f32);
    EXPECT_EQ(type_of("x + 1"), Type::f32);
    EXPECT_EQ(type_of("1 + x"), Type::f32);
    EXPECT_EQ(type_of("0.5 * h"), Type::f16);
    EXPECT_EQ(type_of("1 + 2 * (3 - u)"), Type::u8);
    EXPECT_EQ(type_of("-n"), Type::i32);
    EXPECT_EQ(type_of("~u & 15"), Type::u8);
    EXPECT_EQ(type_of("1 << n"), Type::i32);
    EXPECT_EQ(type_of("(1 << n) + 1"), Type::i32);
    EXPECT_EQ(type_of("l >> 3"), Type::i64);
    EXPECT_EQ(type_of("x < 1"), Type::boolean);
    EXPECT_EQ(type_of("1 < x == b"), Type::boolean);
    EXPECT_EQ(type_of("b && x == 0"), Type::boolean);
    EXPECT_EQ(type_of("b ^ (n > 0)"), Type::boolean);
    EXPECT_EQ(type_of("b == true"), Type::boolean);
    EXPECT_EQ(type_of("!b"), Type::boolean);
    EXPECT_EQ(type_of("b ? 1 : x"), Type::f32);
    EXPECT_EQ(type_of("b ? n : 1"), Type::i32);
    EXPECT_EQ(type_of("max(1, d)"), Type::f64);
    EXPECT_EQ(type_of("fma(x, 2, 1)"), Type::f32);
    EXPECT_EQ(type_of("popcount(u)"), Type::i32);
    EXPECT_EQ(type_of("clz(l) + n"), Type::i32);
    EXPECT_EQ(type_of("isnan(h)"), Type::boolean);
    EXPECT_EQ(type_of("f64(n) / d"), Type::f64);
    EXPECT_EQ(type_of("t[u]"), Type::f64);
    EXPECT_EQ(type_of("t[2] + 1"), Type::f64);
    EXPECT_EQ(type_of("index + position + segment"), Type::i64);
    EXPECT_EQ(type_of("lowest(u16)"), Type::u16);
    EXPECT_EQ(type_of("epsilon(bf16) / 2"), Type::bf16);
    EXPECT_EQ(type_of("bool(1)"), Type::boolean);
    EXPECT_EQ(type_of("i32(1.5)"), Type::i32);
    EXPECT_EQ(type_of("i32(-inf)"), Type::i32);
    EXPECT_EQ(type_of("u8(f32(300))"), Type::u8);
}

TEST(Check, LiteralsTakeTheTypeOfTheirContext)
{
    const auto op =
        parse_operator("test",
                       "operator f(x: f16, u: u64) -> f32 { state s: f32 = 1 "
                       "lift { let h = 1 + x; s = bool(1) || u == 18446744073709551615 ? 1 : f32(h) } "
                       "combine(a, b) max(a, 0.5) }");
    EXPECT_EQ((*op.state[0].identity)->type, Type::f32);
    EXPECT_EQ(op.lift.lets[0].value.argument(0)->type, Type::f16);
    const auto& chosen = op.lift.assignments[0].value;
    EXPECT_EQ(chosen.argument(0).argument(0).argument(0)->type, Type::i32);
    EXPECT_EQ(chosen.argument(0).argument(1).argument(1)->type, Type::u64);
    EXPECT_EQ(chosen.argument(1)->type, Type::f32);
    EXPECT_EQ(op.combine.assignments[0].value.argument(1)->type, Type::f32);
}

/// The types of the locals of a lift. The operator has fields n: i32, l: i64, s: f32, h: f16 and a column x:
/// f32.
std::string let_types(const std::string& lift)
{
    const auto op = parse_operator(
        "test", "operator f(x: f32, k: u8, t: table f64) { state { n: i32; l: i64; s: f32; h: f16 } lift { " +
                    lift + " } combine(a, b) { n = a.n; l = a.l; s = a.s; h = a.h } }");
    EXPECT_TRUE(same(parse_operator("printed", print(op)), op)) << print(op);
    EXPECT_TRUE(same(check(op), op)) << print(op);
    std::string types;
    for (const auto& let : op.lift.lets)
        types += (types.empty() ? "" : " ") + let.name + ":" + std::string(name(*let.value->type));
    return types;
}

TEST(Check, UntypedLetsTakeTheTypeOfTheirUses)
{
    const std::string rest = "; n = 1; l = 1; s = 1; h = 1";
    EXPECT_EQ(let_types("let p = x > 0 ? 1 : 0; n = p; l = 1; s = 1; h = 1"), "p:i32");
    EXPECT_EQ(let_types("let p = 1; n = 1; l = p; s = 1; h = 1"), "p:i64");
    EXPECT_EQ(let_types("let p = 0.5; n = 1; l = 1; s = p * x; h = 1"), "p:f32");
    EXPECT_EQ(let_types("let p = inf; n = 1; l = 1; s = x < p ? x : 0; h = p > 1 ? 1 : 0"), "p:f32");
    // A use inside another local, a chain of locals, and uses in another order than that of the text.
    EXPECT_EQ(let_types("let p = 3; let q = p * k" + rest), "p:u8 q:u8");
    EXPECT_EQ(let_types("let p = 3; let q = p + 1; let r = q; n = 1; l = r; s = 1; h = 1"),
              "p:i64 q:i64 r:i64");
    EXPECT_EQ(let_types("n = 1; l = p; s = 1; h = 1; let p = -1"), "p:i64");
    // Comparisons, conversions and indices take the type for which the other uses call ...
    EXPECT_EQ(let_types("let p = 1; n = p; l = 1; s = f32(p) * x; h = p > 0 ? 1 : 0"), "p:i32");
    EXPECT_EQ(let_types("let p = 1; n = p; l = i64(t[p]); s = 1; h = 1"), "p:i32");
    EXPECT_EQ(let_types("let p = 2; let q = p + 1; n = p; l = 1; s = q > 2 ? x : 0; h = 1"), "p:i32 q:i32");
    // ... and decide if no other use states a type.
    EXPECT_EQ(let_types("let p = 1; n = 1; l = 1; s = f32(p) * x; h = 1"), "p:f32");
    EXPECT_EQ(let_types("let p = 1; n = 1; l = i64(t[p]); s = 1; h = 1"), "p:i64");
    EXPECT_EQ(let_types("let p = max(1, 2); n = p; l = 1; s = fma(x, x, x); h = 1"), "p:i32");
    EXPECT_EQ(let_types("let p = true; n = p ? 1 : 0; l = 1; s = 1; h = 1"), "p:bool");
}

TEST(Check, LiteralsAtTheEndsOfTheirTypesAreRead)
{
    const auto reads = [](const std::string& type, const std::string& literal) {
        try {
            parse_operator("test", "operator f(x: " + type + ") -> " + type + " { state s: " + type + " = " +
                                       literal + " lift x combine(a, b) a }");
            return true;
        } catch (const SpecError&) {
            return false;
        }
    };
    const auto ends = [&](const std::string& type, const std::string& low, const std::string& below,
                          const std::string& high, const std::string& above) {
        EXPECT_TRUE(reads(type, low)) << type;
        EXPECT_FALSE(reads(type, below)) << type;
        EXPECT_TRUE(reads(type, high)) << type;
        EXPECT_FALSE(reads(type, above)) << type;
    };
    ends("i8", "-128", "-129", "127", "128");
    ends("i16", "-32768", "-32769", "32767", "32768");
    ends("i32", "-2147483648", "-2147483649", "2147483647", "2147483648");
    ends("i64", "-9223372036854775808", "-9223372036854775809", "9223372036854775807", "9223372036854775808");
    ends("u8", "0", "-1", "255", "256");
    ends("u16", "-0", "-1", "0xffff", "0x10000");
    ends("u32", "0", "-1", "4294967295", "4294967296");
    ends("u64", "0", "-1", "18446744073709551615", "18446744073709551616");
    ends("f16", "-65519.9", "-65520", "65519", "65520.0");
    ends("bf16", "-3.39e38", "-3.4e38", "338953138925153547590470800371487866880.0", "3.4e38");
    ends("f32", "-3.4028235e38", "-3.4028236e38", "3.4028235e38", "3.4028236e38");
    ends("f64", "-1.7976931348623157e308", "-1.8e308", "1.7976931348623157e308", "1e309");
    EXPECT_TRUE(reads("f32", "1e-300")) << "what is too small is 0";
}

TEST(Check, AssignmentsStandInTheOrderOfTheFields)
{
    const auto op = parse_operator("test",
                                   "operator f(x: f32) -> (p: f32, q: f32) { state { s: f32; t: f32 } "
                                   "lift { t = x; s = 1 } combine(a, b) { t = a.t; s = b.s } "
                                   "finish { q = s; p = t } empty { q = 1; p = 2 } }");
    EXPECT_EQ(op.lift.assignments[0].field, "s");
    EXPECT_EQ(op.combine.assignments[1].field, "t");
    EXPECT_EQ(op.finish->assignments[0].field, "p");
    EXPECT_EQ(op.empty->assignments[1].field, "q");
}

TEST(Check, CheckingAgainChangesNothing)
{
    for (const auto& standard : standard_operators())
        for (const Type type : standard.types) {
            const auto op = standard_operator(standard.name, type);
            EXPECT_TRUE(same(check(op), op)) << print(op);
        }
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const auto op = RandomOperator(seed).make();
        ASSERT_TRUE(same(check(op), op)) << "seed " << seed << "\n" << print(op);
    }
}

/// A sum, for a test to make it wrong.
Operator sum()
{
    auto op = standard_operator("sum", Type::f32);
    op.source = nullptr;
    return op;
}

std::string refusal(const std::function<void(Operator&)>& spoil)
{
    auto op = sum();
    spoil(op);
    return test::message_of<SpecError>([&] { check(op); });
}

TEST(Check, RefusesNamesThatNoTextCouldHold)
{
    const std::string rule = "; a name is a letter or '_' and then letters, digits and '_', 64 at most";
    EXPECT_EQ(refusal([](Operator& op) { op.name = "my sum"; }),
              "operator my sum: 'my sum' is not a name" + rule);
    EXPECT_EQ(refusal([](Operator& op) { op.parameters[0].name = ""; }),
              "operator sum: '' is not a name" + rule);
    EXPECT_EQ(refusal([](Operator& op) { op.state[0].name = "1st"; }),
              "operator sum: '1st' is not a name" + rule);
    EXPECT_EQ(refusal([](Operator& op) { op.earlier = "a\n"; }), "operator sum: 'a\n' is not a name" + rule);
    EXPECT_EQ(refusal([](Operator& op) { op.results[0].name = std::string(65, 'r'); }),
              "operator sum: '" + std::string(64, 'r') + "' is not a name" + rule);
    EXPECT_EQ(refusal([](Operator& op) { op.results[0].name = "let"; }),
              "operator sum: 'let' cannot be a name; it begins a local name: let NAME = VALUE;");
    EXPECT_EQ(refusal([](Operator& op) {
                  op.lift.lets.push_back({"é", Expression(true), {}});
              }),
              "operator sum: 'é' is not a name" + rule);
    EXPECT_EQ(refusal([](Operator& op) { op.results[0].name = "index"; }), "nothing was thrown");
}

TEST(Check, RefusesOperationsThatDoNotExist)
{
    const auto lifting = [](const Expression& value) {
        return refusal([&](Operator& op) { op.lift.assignments[0].value = value; });
    };
    const auto x = make_name("x");
    EXPECT_EQ(lifting(make_binary("**", x, x)), "operator sum: unknown operation '**'");
    EXPECT_EQ(lifting(make_unary("+", x)), "operator sum: unknown operation '+'");
    EXPECT_EQ(lifting(make_constant("pi")), "operator sum: unknown operation 'pi'");
    EXPECT_EQ(lifting(make_limit("greatest", Type::f32)), "operator sum: unknown operation 'greatest'");
    EXPECT_EQ(
        lifting(call("cbrt", {x})),
        "operator sum: unknown function 'cbrt'; the functions are min, max, abs, sqrt, rsqrt, exp, exp2, "
        "expm1, "
        "log, log2, log1p, pow, sin, cos, tanh, floor, ceil, round, fma, copysign, popcount, clz, isnan, "
        "isfinite, lowest, highest and epsilon");
    EXPECT_EQ(lifting(make_gather("x", 0)),
              "operator sum: 'x' is not a table; declare it as a parameter: x: table f32");
}

TEST(Check, RefusesFieldsOutOfPlace)
{
    const std::string hint = "; combine has two, finish has one, and the other parts have none";
    const auto stray = [](const std::string& field) {
        return "operator sum: there is no state here of which '" + field + "' could be a field";
    };
    EXPECT_EQ(
        refusal([](Operator& op) { op.lift.assignments[0].value = make_field(Operand::earlier, "sum"); }),
        stray("sum") + hint);
    EXPECT_EQ(refusal([](Operator& op) { op.lift.assignments[0].value = make_field(Operand::state, "sum"); }),
              stray("sum") + hint);
    EXPECT_EQ(
        refusal([](Operator& op) { op.combine.assignments[0].value = make_field(Operand::state, "sum"); }),
        stray("sum") + hint);
    EXPECT_EQ(refusal([](Operator& op) { op.state[0].identity = make_field(Operand::later, "sum"); }),
              stray("sum") + hint);
    EXPECT_EQ(
        refusal([](Operator& op) { op.combine.assignments[0].value = make_field(Operand::later, "total"); }),
        "operator sum: unknown state field 'total'; the fields are sum");
}

TEST(Check, RefusesMissingValuesAndTreesTooLarge)
{
    EXPECT_EQ(refusal([](Operator& op) { op.lift.assignments[0].value = Expression(); }),
              "operator sum has an expression without a value");
    EXPECT_EQ(refusal([](Operator& op) { op.state[0].identity = Expression(); }),
              "operator sum has an expression without a value");
    auto doubled = make_name("x"), chain = doubled;
    for (int i = 0; i < 200; ++i)
        doubled = doubled + doubled;
    for (int i = 0; i < 300; ++i)
        chain = chain + 1;
    EXPECT_EQ(refusal([&](Operator& op) { op.lift.assignments[0].value = doubled; }),
              "operator sum: the operator has more than 20000 numbers, names and operations; this is the "
              "most that one "
              "may have");
    EXPECT_EQ(refusal([&](Operator& op) { op.lift.assignments[0].value = chain; }),
              "operator sum: the expression nests deeper than 256 levels; name parts of it with 'let'");
}

TEST(Check, MessagesWithoutATextNameTheOperator)
{
    EXPECT_EQ(refusal([](Operator& op) { op.lift.assignments[0].value = make_name("y"); }),
              "operator sum: unknown name 'y'; the names known here are index, position, segment, x");
    EXPECT_EQ(refusal([](Operator& op) { op.state.clear(); }),
              "operator sum has no state; write 'state NAME: TYPE = IDENTITY' or 'state { NAME: TYPE; "
              "... }'");
    EXPECT_EQ(refusal([](Operator& op) { op.lift = {}; }),
              "operator sum has no lift; lift turns an element into a state, e.g. lift x");
    EXPECT_EQ(refusal([](Operator& op) { op.parameters.resize(300, op.parameters[0]); }),
              "operator sum has 300 parameters; at most 256 are allowed");
}

}  // namespace
}  // namespace segfold::check_test
