// Warnings about text that its author probably does not mean, each with its whole message.
#include "dsl/check/warnings.h"

#include <gtest/gtest.h>

#include "dsl/cpp/define.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"

namespace segfold::warnings_test {
namespace {

std::vector<std::string> warnings_of(const std::string& lift)
{
    return warnings(parse_operator("o.seg", "operator o(x: f32) -> i32 {\n  state n: i32 = 0\n  lift " +
                                                lift + "\n  combine(a, b) a + b\n}\n"));
}

using Texts = std::vector<std::string>;

TEST(Warnings, ComparisonsWithNanAreToldWithTheirCure)
{
    EXPECT_EQ(warnings_of("x != nan ? 1 : 0"),
              Texts({"o.seg:3:10: 'x != nan' is always true: NaN compares unequal to everything, to itself "
                     "too; write !isnan(x)\n      lift x != nan ? 1 : 0\n             ^^"}));
    EXPECT_EQ(warnings_of("x == nan ? 1 : 0"),
              Texts({"o.seg:3:10: 'x == nan' is always false: NaN compares unequal to everything, to itself "
                     "too; write isnan(x)\n      lift x == nan ? 1 : 0\n             ^^"}));
    EXPECT_EQ(warnings_of("nan < x * 2 ? 1 : 0"),
              Texts({"o.seg:3:12: 'nan < x * 2' is always false: NaN is neither below nor above anything; "
                     "write isnan(x * 2)\n"
                     "      lift nan < x * 2 ? 1 : 0\n               ^"}));
    for (const std::string comparison : {"<=", ">", ">="})
        EXPECT_EQ(warnings_of("x " + comparison + " nan ? 1 : 0").size(), 1U) << comparison;
}

TEST(Warnings, NanInAnyDressIsFoundAndEveryPlaceIsTold)
{
    EXPECT_EQ(warnings_of("x == -nan || f64(x) == f64(f32(nan)) ? 1 : 0").size(), 2U);
    const auto texts = warnings(parse_operator("o.seg", R"(operator o(x: f32) -> (result: f32) {
  state value: f32 = f32(nan) == 0.0 ? 1.0 : 2.0
  lift { let is_gap = x == nan; value = is_gap ? 0 : x }
  combine(a, b) a == nan ? b : a
  finish { result = value != nan ? value : 0 }
  empty { result = f32(1) < nan ? 1 : 2 }
}
)"));
    std::vector<std::string> places;
    for (const auto& text : texts)
        places.push_back(text.substr(0, text.find(' ')));
    EXPECT_EQ(places, Texts({"o.seg:2:31:", "o.seg:3:25:", "o.seg:4:19:", "o.seg:5:27:", "o.seg:6:27:"}));
}

TEST(Warnings, OperatorsInCppNameTheirLine)
{
    const auto op = define("o", Field<float>("sum", 0), [](auto& o) {
        const Column<float> x(o, "x");
        o.lift(select(x != nan<float>(), x, 0.0F)).combine([](auto a, auto b) { return a + b; });
    });
    const auto texts = warnings(op);
    ASSERT_EQ(texts.size(), 1U);
    EXPECT_TRUE(
        texts[0].ends_with("'x != nan' is always true: NaN compares unequal to everything, to itself "
                           "too; write !isnan(x)"))
        << texts[0];
    EXPECT_NE(texts[0].find("warnings_test.cpp:"), std::string::npos) << texts[0];
}

TEST(Warnings, StatesOfAScanHaveItsNamesForThem)
{
    const auto texts = warnings(parse_operator("o.seg", R"(operator o(x: f32) -> (each y: i32) {
  state s: f32 = 0
  lift x
  combine(a, b) a + b
  scan(earlier, with) { y = nan == earlier || with != nan ? 1 : 0 }
}
)"));
    ASSERT_EQ(texts.size(), 2U);
    EXPECT_NE(texts[0].find("'nan == earlier' is always false"), std::string::npos) << texts[0];
    EXPECT_NE(texts[0].find("write isnan(earlier)"), std::string::npos) << texts[0];
    EXPECT_NE(texts[1].find("'with != nan' is always true"), std::string::npos) << texts[1];
}

TEST(Warnings, WhatIsMeantIsNotWarnedOf)
{
    for (const std::string lift : {"isnan(x) ? 1 : 0", "x != x ? 1 : 0", "(x > 0 ? x : nan) > 1 ? 1 : 0",
                                   "x == inf ? 1 : 0", "i32(min(x, nan))"})
        EXPECT_EQ(warnings_of(lift), Texts()) << lift;
    for (const auto& standard : standard_operators())
        for (const auto type : kTypes)
            try {
                EXPECT_EQ(warnings(standard_operator(standard.name, type)), Texts()) << standard.name;
            } catch (const InputError&) {
                continue;  // the operator does not accept this type
            }
}

}  // namespace
}  // namespace segfold::warnings_test
