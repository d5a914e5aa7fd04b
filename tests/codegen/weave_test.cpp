// Weaving: paragraphs kept and dropped, parts gathered once, messages with file and line.
#include "codegen/weave/weave.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/weave/line_map.h"
#include "dsl/error.h"
#include "tests/common/message_of.h"

namespace segfold::weave_test {
namespace {

using Parts = std::map<std::string, std::string, std::less<>>;

Woven weave_with(const std::string& text, const Facts& facts, const Parts& parts = {})
{
    const ReadPart read = [&](std::string_view path) -> std::string_view {
        const auto found = parts.find(path);
        if (found == parts.end())
            throw SpecError("unknown part '" + std::string(path) + "'");
        return found->second;
    };
    return weave("stages/x.cu", text, facts, read);
}

std::string body(const std::string& text, const Facts& facts) { return weave_with(text, facts).body; }

std::string failure(const std::string& text, const Parts& parts = {})
{
    return test::message_of<SpecError>([&] {
        weave_with(text, {{"commutative", true}, {"offsets", false}}, parts);
    });
}

constexpr const char* kChain = R"(before
//% if a
A
//% elif b
B
//% else
C
//% end
after
)";

TEST(Weave, KeepsTheFirstParagraphThatHolds)
{
    EXPECT_EQ(body(kChain, {{"a", true}, {"b", true}}), "before\nA\nafter\n");
    EXPECT_EQ(body(kChain, {{"a", false}, {"b", true}}), "before\nB\nafter\n");
    EXPECT_EQ(body(kChain, {{"a", false}, {"b", false}}), "before\nC\nafter\n");
}

TEST(Weave, WithoutElseNothingIsKept)
{
    EXPECT_EQ(body("x\n//% if a\nA\n//% elif b\nB\n//% end\ny\n", {{"a", false}, {"b", false}}), "x\ny\n");
}

TEST(Weave, BlocksNest)
{
    const std::string text =
        "//% if a\nA\n//% if b\nAB\n//% else\nA!B\n//% end\n//% else\n//% if b\nB\n//% end\n!A\n//% end\n";
    EXPECT_EQ(body(text, {{"a", true}, {"b", true}}), "A\nAB\n");
    EXPECT_EQ(body(text, {{"a", true}, {"b", false}}), "A\nA!B\n");
    EXPECT_EQ(body(text, {{"a", false}, {"b", true}}), "B\n!A\n");
    EXPECT_EQ(body(text, {{"a", false}, {"b", false}}), "!A\n");
}

TEST(Weave, ConditionsAreFormulas)
{
    const auto kept = [](const std::string& condition) {
        return body("//% if " + condition + "\nx\n//% end\n", {{"a", true}, {"b", false}}) == "x\n";
    };
    EXPECT_TRUE(kept("a"));
    EXPECT_FALSE(kept("!a"));
    EXPECT_TRUE(kept("a || b"));
    EXPECT_FALSE(kept("a && b"));
    EXPECT_TRUE(kept("a && !b"));
    EXPECT_FALSE(kept("!(a || b)"));
}

TEST(Weave, DirectivesMayBeIndentedAndEndInCarriageReturns)
{
    EXPECT_EQ(body("{\n    //% if a\n    x\n\t//%  else\r\n    y\n    //% end  \n}\n", {{"a", true}}),
              "{\n    x\n}\n");
}

TEST(Weave, BlankLinesLeftByDroppedParagraphsGo)
{
    EXPECT_EQ(
        body("\n\nx\n\n//% if a\nA\n//% end\n\ny\n{\n//% if a\nA\n//% end\n\nz\n}\n\n\n", {{"a", false}}),
        "x\n\ny\n{\nz\n}\n");
}

TEST(Weave, LastLineMayLackItsEnd) { EXPECT_EQ(body("x", {}), "x\n"); }

TEST(Weave, PartsComeOnceAndTheUsedBeforeTheUser)
{
    const auto woven = weave_with("//% use p/top\n//% use p/base\n//% use p/top\nx\n", {},
                                  {{"p/top", "//% use p/base\n//% use p/other\ntop\n"},
                                   {"p/base", "base\n"},
                                   {"p/other", "//% use p/base\nother\n"}});
    EXPECT_THAT(woven.parts, testing::ElementsAre("base\n\n", "other\n\n", "top\n\n"));
    EXPECT_EQ(woven.body, "x\n");
}

TEST(Weave, PartsSeeTheFactsAndDroppedUsesAreNotFollowed)
{
    const auto woven = weave_with("//% if a\n//% use p/one\n//% else\n//% use p/two\n//% end\n",
                                  {{"a", true}}, {{"p/one", "//% if a\nA\n//% else\nB\n//% end\n"}});
    EXPECT_THAT(woven.parts, testing::ElementsAre("A\n\n"));
}

TEST(Weave, OtherDirectivesOfKeptParagraphsAreHandedOn)
{
    const auto woven =
        weave_with("//% stage x\n//% if a\n//%   launch   one  grid = 1\n//% else\n//% launch two\n//% end\n",
                   {{"a", true}});
    ASSERT_EQ(woven.directives.size(), 2u);
    EXPECT_EQ(woven.directives[1].word, "launch");
    EXPECT_EQ(woven.directives[1].argument, "one  grid = 1");
    EXPECT_EQ(woven.directives[1].line, 3);
    EXPECT_EQ(directives_of("//% if a\n//% launch one\n//% else\n//% launch two\n//% end\n").size(), 5u);
}

TEST(Weave, FaultsNameFileAndLine)
{
    EXPECT_EQ(failure("x\n//% if commutativ\n//% end\n"),
              "stages/x.cu:2: in 'commutativ': unknown name 'commutativ'; did you mean 'commutative'?");
    EXPECT_EQ(failure("//% if commutative\n//% elif elephants\n//% end\n"), "nothing was thrown");
    EXPECT_EQ(failure("//% if offsets\n//% elif elephants\n//% end\n"),
              "stages/x.cu:2: in 'elephants': unknown name 'elephants'");
    EXPECT_EQ(failure("x\n//% if commutative\n//% if offsets\n//% end\n"),
              "stages/x.cu:2: 'if' without 'end'");
    EXPECT_EQ(failure("//% end\n"), "stages/x.cu:1: 'end' without 'if'");
    EXPECT_EQ(failure("\n//% else\n"), "stages/x.cu:2: 'else' without 'if'");
    EXPECT_EQ(failure("//% elif commutative\n"), "stages/x.cu:1: 'elif' without 'if'");
    EXPECT_EQ(failure("//% if offsets\n//% else\n//% else\n//% end\n"), "stages/x.cu:3: 'else' after 'else'");
    EXPECT_EQ(failure("//% if offsets\n//% else\n//% elif commutative\n//% end\n"),
              "stages/x.cu:3: 'elif' after 'else'");
    EXPECT_EQ(failure("//% if\n//% end\n").substr(0, 14), "stages/x.cu:1:");
}

TEST(Weave, PartsBringSizesScratchAndLaunches)
{
    const auto woven =
        weave_with("//% let a = 1\n//% use p/one\n//% launch two\n", {{"whole", true}},
                   {{"p/one", "x\n//% if whole\n//% launch one\n//% else\n//% let b\n//% end\n"}});
    ASSERT_EQ(woven.directives.size(), 3U);
    EXPECT_EQ(woven.directives[1].argument, "one");
    EXPECT_EQ(woven.directives[1].file, "p/one");
    EXPECT_EQ(woven.directives[1].line, 3);
    EXPECT_EQ(woven.directives[2].argument, "two");
    EXPECT_EQ(woven.directives[2].file, "");
}

TEST(Weave, NumbersAreParametersWhereTheLaunchSaysThem)
{
    const std::string text =
        "f(int a,\n  //% number rows\n  //% if offsets\n  //% number ring\n  //% end\n  int b)\n"
        "g(//\n  //% number rows\n  int b)\n";
    const auto constant = weave_with(text, {{"offsets", true}, {"at_launch", false}});
    EXPECT_EQ(constant.body, "f(int a,\n  int b)\ng(//\n  int b)\n");
    EXPECT_EQ(constant.numbers, (std::vector<std::string>{"rows", "ring"}));
    const auto open = weave_with(text, {{"offsets", false}, {"at_launch", true}});
    EXPECT_EQ(open.body, "f(int a,\n  int rows,\n  int b)\ng(//\n  int rows,\n  int b)\n");
    EXPECT_EQ(open.numbers, std::vector<std::string>{"rows"});
}

TEST(Weave, NumbersStandBeforeTheLastParameter)
{
    EXPECT_EQ(failure("f(int a,\n  //% number rows\n)\n"),
              "stages/x.cu:2: a number stands before the last parameter, not behind it");
    EXPECT_EQ(failure("f(\n  //% number rows\n  int a)\n"), "nothing was thrown");
}

TEST(Weave, FaultsOfPartsNameWhereTheyAre)
{
    EXPECT_EQ(failure("x\n//% use p/none\n"), "stages/x.cu:2: unknown part 'p/none'");
    EXPECT_EQ(failure("//% use p/a\n", {{"p/a", "a\n//% use p/b\n"}, {"p/b", "//% use p/a\n"}}),
              "p/b:1: p/a uses itself");
    EXPECT_EQ(failure("//% use p/a\n", {{"p/a", "//% use p/a\n"}}), "p/a:1: p/a uses itself");
    EXPECT_EQ(failure("//% use p/a\n", {{"p/a", "\n//% if offsets\n"}}), "p/a:2: 'if' without 'end'");
    EXPECT_EQ(failure("//% use p/a\n", {{"p/a", "a\n//% tune a = 1\n"}}),
              "p/a:2: a part has no use for 'tune'; it knows let, scratch, launch, use, number, if, elif, "
              "else and end");
}

TEST(Weave, MessagesNameWhereLinesComeFrom)
{
    LineMap lines;
    lines.add_generated("first\nsecond\n");
    lines.add("own/one.cu", {9, 10, 0, 120});
    const auto named = [&](const std::string& log) { return name_origins(log, "/tmp/t.cu", lines); };
    EXPECT_EQ(named("/tmp/t.cu:3:5: error: a\n    3 |     code\n      |     ^\n"),
              "own/one.cu:9:5: error: a\n    9 |     code\n      |     ^\n");
    EXPECT_EQ(named("  5 | a\n> 6 | b\n"), "  5 | a\n>120 | b\n");
    EXPECT_EQ(named("in /tmp/t.cu(6): error, see /tmp/t.cu:4"),
              "in own/one.cu:120: error, see own/one.cu:10");
    EXPECT_EQ(
        named("/tmp/t.cu:2:1: note\n/tmp/t.cu:5:1: note\n/tmp/t.cu:77: note\n/tmp/t.cu: In function\n 2 |"),
        "/tmp/t.cu:2:1: note\n/tmp/t.cu:5:1: note\n/tmp/t.cu:77: note\n/tmp/t.cu: In function\n 2 |");
}

}  // namespace
}  // namespace segfold::weave_test
