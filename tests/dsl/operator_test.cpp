// Compares operators, and queries their properties.
#include "dsl/operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "dsl/derived.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/message_of.h"

namespace segfold::operator_test {
namespace {

const std::string kText = R"(operator f(x: f32, t: table i32) -> (p: f32, q: i32) {
  state { s: f32 = 0; n: i32 = 1 }
  lift { let y = x * 2; s = y; n = t[index] }
  combine(a, b) { s = a.s + b.s; n = max(a.n, b.n) }
  finish { p = s / f32(length); q = n }
  empty { p = nan; q = 0 }
  laws commutative
})";

Operator read(const std::string& text) { return parse_operator("test", text); }

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Operator, SameIsOfWhatIsSaidOnly)
{
    const auto op = read(kText);
    EXPECT_TRUE(same(op, read(kText)));
    EXPECT_TRUE(same(op, read("# A comment.\n\n" + replaced(kText, "x * 2", "(x)  *\n2"))));
    EXPECT_TRUE(same(op, read(replaced(kText, "s = y; n = t[index]", "n = t[index]; s = y"))))
        << "assignments have no order";
    const std::pair<const char*, const char*> changes[] = {{"operator f", "operator g"},
                                                           {"t: table i32", "t: table i64"},
                                                           {"(x: f32, t", "(x: f32, v: u8, t"},
                                                           {"(p: f32", "(r: f32"},
                                                           {"n: i32 = 1", "n: i32 = 2"},
                                                           {"x * 2", "2 * x"},
                                                           {"t[index]", "t[position]"},
                                                           {"a.s + b.s", "b.s + a.s"},
                                                           {"s / f32(length)", "s"},
                                                           {"empty { p = nan", "empty { p = 0"},
                                                           {"laws commutative", "laws idempotent"},
                                                           {"laws commutative", ""}};
    for (const auto& [from, to] : changes) {
        auto text = replaced(kText, from, to);
        if (std::string(from) == "(p: f32")
            for (const char* set : {"{ p = s", "{ p = nan"})
                text = replaced(text, set, std::string(set).replace(2, 1, "r"));
        if (std::string(to) == "t: table i64")
            text = replaced(text, "t[index]", "i32(t[index])");
        EXPECT_FALSE(same(op, read(text))) << from << " -> " << to;
    }
}

TEST(Operator, UsesName)
{
    const auto op = read(kText);
    EXPECT_TRUE(uses_name(op.lift, "index"));
    EXPECT_TRUE(uses_name(op.lift, "x"));
    EXPECT_FALSE(uses_name(op.lift, "position"));
    EXPECT_FALSE(uses_name(op.lift, "t")) << "a table is not a name's value";
    EXPECT_TRUE(uses_name(*op.finish, "length"));
    EXPECT_FALSE(uses_name(*op.empty, "length"));
}

TEST(Operator, ExactnessOfTheStandardOperators)
{
    struct Case {
        const char* name;
        bool combines, all;
    };
    const Case cases[] = {{"sum_i32", true, true},          {"sum_f32", false, false},
                          {"product_f64", false, false},    {"min_f32", true, true},
                          {"max_f16", true, true},          {"argmin_f64", true, true},
                          {"mean_i32", true, true},         {"mean_f32", false, false},
                          {"count_f32", true, true},        {"dot_i64", true, true},
                          {"dot_f32", false, false},        {"keep_first_f32", true, true},
                          {"any_f32", true, true},          {"trace_u64", true, true},
                          {"affine_u32", true, true},       {"affine_f32", false, false},
                          {"max_subarray_i16", true, true}, {"mean_variance_f32", false, false},
                          {"log_sum_exp_f32", false, false}};
    for (const auto& [name, combines, all] : cases) {
        const auto op = standard_operator(name);
        EXPECT_EQ(combines_exactly(op), combines) << name;
        EXPECT_EQ(is_exact(op), all) << name;
    }
}

/// Every back end computes these by the same single operations.
TEST(Operator, RoundingOfOneElementIsExact)
{
    const auto exact = [](const std::string& column, const std::string& lift) {
        return is_exact(read("operator f(x: " + column + ", y: " + column +
                             ") -> i32 { state s: i32 = 0 lift " + lift + " combine(a, b) a + b }"));
    };
    EXPECT_TRUE(exact("f32", "i32(x * 8.0)"));
    EXPECT_TRUE(exact("f64", "i32((x - 0.5) * 8.0)"));
    EXPECT_TRUE(exact("f32", "i32(floor(x / y + 0.5))"));
    EXPECT_TRUE(exact("f32", "i32(sqrt(x))"));
    EXPECT_FALSE(exact("f32", "i32(x * 8.0 + 0.5)"));
    EXPECT_FALSE(exact("f32", "i32(-(x * y) + 0.5)"));
    EXPECT_FALSE(exact("f16", "i32(x * 8.0)"));
    EXPECT_FALSE(exact("f32", "i32(exp(x))"));
}

TEST(Operator, EmptySegments)
{
    const auto shape = [](const std::string& identity, const std::string& empty) {
        return read("operator f(x: f32) -> f32 { state s: f32" + identity + " lift x combine(a, b) a + b " +
                    empty + "}");
    };
    EXPECT_TRUE(shape(" = 0", "").allows_empty());
    EXPECT_FALSE(shape("", "").allows_empty());
    EXPECT_TRUE(shape("", "empty nan").allows_empty());
    EXPECT_FALSE(shape("", "empty nan").has_identity());
}

std::vector<std::string> result_names(const Operator& op)
{
    std::vector<std::string> names;
    for (const auto& result : op.results)
        names.push_back(result.name);
    return names;
}

/// Names are those of one product, however `&` is nested.
TEST(Operator, ProductsOfProductsAreOne)
{
    const auto argmax = standard_operator("argmax_f32"), first = standard_operator("first_f32"),
               last = standard_operator("last_f32"), sum = standard_operator("sum_f32");
    const auto wanted = product({{argmax}, {first}, {last}, {sum}});
    for (const auto& nested :
         {argmax & first & last & sum, argmax & (first & (last & sum)), (argmax & first) & (last & sum)}) {
        EXPECT_TRUE(same(nested, wanted)) << print(nested);
        EXPECT_EQ(nested.name, "argmax_and_first_and_last_and_sum");
    }
    EXPECT_EQ(result_names(wanted)[0], "argmax_value");
}

TEST(Operator, AProductOfWhatWasMovedFromIsRefused)
{
    auto sum = standard_operator("sum_f32");
    const auto other = std::move(sum);
    const auto refused =
        "operator '' of a product has no state: it has been moved from, or was never defined; use the one "
        "that "
        "it was moved to, or define one";
    // NOLINTNEXTLINE(bugprone-use-after-move): what this test is about
    EXPECT_EQ(test::message_of<InputError>([&] { (void)(other & sum); }), refused);
    EXPECT_EQ(test::message_of<InputError>([&] { (void)(Operator() & other); }), refused);
}

/// A nameless result takes its operator's name, which may be a name in another operator.
TEST(Operator, NamelessResultsCollideByTheirOperatorsName)
{
    const auto mean = standard_operator("mean_f32"), both = standard_operator("mean_variance_f32");
    using Names = std::vector<std::string>;
    EXPECT_EQ(result_names(mean & both), (Names{"mean", "mean_variance_mean", "variance"}));
    EXPECT_EQ(result_names(both & mean), (Names{"mean_variance_mean", "variance", "mean"}));
    EXPECT_EQ(result_names(mean & mean & both), (Names{"mean", "mean2", "mean_variance_mean", "variance"}));
    EXPECT_EQ(result_names(read("operator f(x: f32) { use mean use mean_variance }")),
              (Names{"mean", "mean_variance_mean", "variance"}));
    EXPECT_EQ(result_names(read("operator f(x: f32) { use sum as mean use mean_variance }")),
              (Names{"mean", "mean_variance_mean", "variance"}));
}

/// Any two standard operators of one type have a product, and all of its results have distinct names.
TEST(Operator, AllPairsOfStandardOperatorsHaveProducts)
{
    for (const Type type : {Type::f32, Type::i32}) {
        std::vector<Operator> all;
        for (const auto& standard : standard_operators())
            if (std::ranges::find(standard.types, type) != standard.types.end())
                if (auto op = standard_operator(standard.name, type); op.outputs.empty())
                    all.push_back(std::move(op));
        const auto kind = [](const Parameter& p) { return std::tuple(p.type, p.table, p.scalar, p.row); };
        const auto agree = [&](const Operator& left, const Operator& right) {
            return std::ranges::all_of(left.parameters, [&](const Parameter& p) {
                const auto other = std::ranges::find(right.parameters, p.name, &Parameter::name);
                return other == right.parameters.end() || kind(*other) == kind(p);
            });
        };
        for (const auto& left : all)
            for (const auto& right : all)
                if (agree(left, right)) {
                    SCOPED_TRACE(left.name + " & " + right.name);
                    std::vector<std::string> names;
                    ASSERT_NO_THROW(names = result_names(left & right));
                    EXPECT_EQ(names.size(), left.results.size() + right.results.size());
                    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
                }
    }
}

}  // namespace
}  // namespace segfold::operator_test
