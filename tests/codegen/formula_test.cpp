// Formulas of stage files: values, and messages that name the place and the text.
#include "codegen/weave/formula.h"

#include <gtest/gtest.h>

#include "codegen/weave/formula_names.h"
#include "dsl/error.h"

namespace segfold::formula_test {
namespace {

const FormulaNames kNames = {
    {"n", 1000}, {"block", 256}, {"zero", 0}, {"yes", 1}, {"least", -9223372036854775807 - 1}};

std::int64_t value(const std::string& text) { return Formula("stages/x.cu:3", text).value(kNames); }

std::string failure(const std::string& text)
{
    try {
        return std::to_string(value(text));
    } catch (const SpecError& error) {
        return error.what();
    }
}

struct Case {
    const char* text;
    std::int64_t value;
};

class FormulaValue : public testing::TestWithParam<Case> {};

TEST_P(FormulaValue, Is) { EXPECT_EQ(value(GetParam().text), GetParam().value) << GetParam().text; }

INSTANTIATE_TEST_SUITE_P(
    Formula, FormulaValue,
    testing::Values(Case{"17", 17}, Case{"-17", -17}, Case{"0x10", 16}, Case{"true", 1}, Case{"false", 0},
                    Case{"n", 1000}, Case{"n + 1", 1001}, Case{"n - 1 - 1", 998}, Case{"n - (1 - 1)", 1000},
                    Case{"n * 2", 2000}, Case{"n / 3", 333}, Case{"-n / 3", -333}, Case{"n % 3", 1},
                    Case{"n == 1000", 1}, Case{"n == 1", 0}, Case{"n != 1", 1}, Case{"n < 1000", 0},
                    Case{"n <= 1000", 1}, Case{"n > 999", 1}, Case{"n >= 1001", 0}, Case{"1 << 4", 16},
                    Case{"n >> 3", 125}, Case{"-16 >> 2", -4}, Case{"!n", 0}, Case{"!zero", 1},
                    Case{"~zero", -1}, Case{"yes && n", 1}, Case{"yes && zero", 0}, Case{"zero || n", 1},
                    Case{"zero || zero", 0}, Case{"zero && 1 / zero", 0}, Case{"yes || 1 / zero", 1},
                    Case{"n > 5 ? 1 : 2", 1}, Case{"zero ? 1 / zero : 2", 2}, Case{"min(n, 5)", 5},
                    Case{"max(n, 5)", 1000}, Case{"ceil_div(n, block)", 4}, Case{"ceil_div(1024, block)", 4},
                    Case{"ceil_div(0, block)", 0}, Case{"ceil_div(-1, block)", 0}, Case{"least % -1", 0},
                    Case{"max(1, min(ceil_div(n, 8 * block), 4 * yes))", 1}));

struct Fault {
    const char* text;
    const char* message;
};

class FormulaFault : public testing::TestWithParam<Fault> {};

TEST_P(FormulaFault, NamesPlaceTextAndReason)
{
    const std::string expected =
        "stages/x.cu:3: in '" + std::string(GetParam().text) + "': " + GetParam().message;
    EXPECT_EQ(failure(GetParam().text), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Formula, FormulaFault,
    testing::Values(Fault{"blocks + 1", "unknown name 'blocks'; did you mean 'block'?"},
                    Fault{"elephants", "unknown name 'elephants'"}, Fault{"n / zero", "division by zero"},
                    Fault{"n % zero", "division by zero"}, Fault{"n & 1", "'&' has no place here"},
                    Fault{"n | 1", "'|' has no place here"}, Fault{"n ^ 1", "'^' has no place here"},
                    Fault{"ceil_div(n, zero)", "ceil_div by 0"}, Fault{"ceil_div(n, -1)", "ceil_div by -1"},
                    Fault{"ceil_div(n)", "ceil_div takes 2 arguments"},
                    Fault{"min(1, 2, 3)", "min takes 2 arguments"},
                    Fault{"pow(n, 2)", "unknown function 'pow'; the functions are ceil_div, min and max"},
                    Fault{"0.5", "only integers, names, operators, min, max and ceil_div are allowed"},
                    Fault{"i32(n)", "only integers, names, operators, min, max and ceil_div are allowed"},
                    Fault{"lowest(i32)",
                          "only integers, names, operators, min, max and ceil_div are allowed"},
                    Fault{"18446744073709551615", "a number is beyond 64 bits"},
                    Fault{"9223372036854775807 + 1", "9223372036854775807 + 1 is beyond 64 bits"},
                    Fault{"n * 9223372036854775807", "1000 * 9223372036854775807 is beyond 64 bits"},
                    Fault{"-least", "0 - -9223372036854775808 is beyond 64 bits"},
                    Fault{"least / -1", "0 - -9223372036854775808 is beyond 64 bits"},
                    Fault{"least - 1", "-9223372036854775808 - 1 is beyond 64 bits"}));

TEST(Formula, TextThatIsNoExpressionIsShownWithItsPlace)
{
    EXPECT_EQ(failure("n +"), R"(stages/x.cu:3: expected an expression, found the end of the text
    n +
       ^)");
    EXPECT_EQ(failure("n =< 64"), R"(stages/x.cu:3: expected the end of the text, found '='
    n =< 64
      ^  write <=)");
}

TEST(Formula, IsOverNamesThatAreAllThere)
{
    EXPECT_TRUE(Formula("x", "n > 5 ? block : min(zero, 1)").is_over(kNames));
    EXPECT_FALSE(Formula("x", "n > 5 ? block : min(other, 1)").is_over(kNames));
    EXPECT_FALSE(Formula("x", "pow(other)").is_over(kNames));
}

TEST(Formula, SizesMayUseEarlierOnes)
{
    const auto names = with_sizes(kNames, {{"half", Formula("x:1", "n / 2")},
                                           {"n", Formula("x:2", "half + 1")},
                                           {"last", Formula("x:3", "n")}});
    EXPECT_EQ(names.at("half"), 500);
    EXPECT_EQ(names.at("last"), 501) << "a size may have the name of a fact, which it hides";
    EXPECT_THROW(with_sizes(kNames, {{"a", Formula("x:1", "b")}, {"b", Formula("x:2", "1")}}), SpecError);
}

TEST(FormulaNames, HaveWhatTheyWereGiven)
{
    FormulaNames names;
    EXPECT_TRUE(names.empty());
    const std::string text = "later";
    names[text] = 3;
    names["earlier"] = 4;
    names.emplace("later", 5);
    EXPECT_EQ(names.names(), (std::vector<std::string_view>{"earlier", "later"}));
    EXPECT_EQ(names.at("later"), 3);
    EXPECT_EQ(names.find("never given"), nullptr);
    EXPECT_THROW((void)names.at("never given"), std::out_of_range);
    const auto copy = names;
    names.erase("later");
    names.erase("never given");
    EXPECT_FALSE(names.contains("later"));
    EXPECT_EQ(names["later"], 0) << "nothing is left of an erased value";
    EXPECT_EQ(copy.at("later"), 3);
    EXPECT_EQ(FormulaName("later").text(), "later");
    EXPECT_EQ(FormulaName("later"), FormulaName(text));
}

TEST(Formula, KeepsItsText) { EXPECT_EQ(Formula("x", "ceil_div(n,  2)").text(), "ceil_div(n,  2)"); }

}  // namespace
}  // namespace segfold::formula_test
