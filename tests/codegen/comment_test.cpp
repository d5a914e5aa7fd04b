// Comments of emitted text: written, found, and checked.
#include "codegen/weave/comment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/peers/peer.h"
#include "dsl/cpp/define.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"

namespace segfold::comment_test {
namespace {

Operator sum()
{
    return parse_operator(
        "sum", "# Adds.\noperator sum(x: i32) -> i32 { state s: i32 = 0 lift x combine(a, b) a + b }");
}

std::string emitted(const Operator& op)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    return emit(Problem(op, SegmentForm::offsets), stage, configure(stage, {})).source;
}

std::string failure(const std::string& source, const Operator& op)
{
    try {
        check_emitted(source, op);
    } catch (const InternalError& error) {
        EXPECT_EQ(error.exit_code(), 4);
        return error.what();
    }
    return "accepted";
}

TEST(Comment, EveryLineIsOne)
{
    EXPECT_EQ(comment_lines("one\n\ntwo  \n"), "// one\n//\n// two\n");
    EXPECT_EQ(comment_lines("\u00fcber \u2211"), "// \u00fcber \u2211\n");
    EXPECT_EQ(comment_lines(""), "");
}

TEST(Comment, WhatEndsOrContinuesALineIsEscaped)
{
    using namespace std::string_literals;
    EXPECT_EQ(comment_lines("a\rb\fc\vd\0e\x1b"s), "// a\\x0db\\x0cc\\x0bd\\x00e\\x1b\n");
    EXPECT_EQ(comment_lines("\u0085\u2028\u2029\u202e\xff"), "// \\u0085\\u2028\\u2029\\u202e\\xff\n");
    EXPECT_EQ(comment_lines("a\tb\r\nc"), "// a b\n// c\n");
    EXPECT_EQ(comment_lines("a\\\nb \\ \t\nc?\?/ \nd \\ d"),
              "// a\\x5c\n// b \\x5c\n// c?\?\\x2f\n// d \\ d\n");
    EXPECT_EQ(comment_lines("\\"), "// \\x5c\n");
}

TEST(Comment, CodeIsFoundBesideThem)
{
    EXPECT_EQ(without_comments("a // b\n/* c\nd */ e \"// f\" '\"' // g"),
              "a     \n    \n     e \"// f\" '\"'     ");
    EXPECT_EQ(without_comments("1'000 // x"), "1'000     ");
    EXPECT_EQ(without_comments("/* open"), "       ");
}

TEST(Comment, FaultsAreFoundWithTheirLine)
{
    const auto fault = [](std::string_view text) {
        const auto found = find_comment_fault(text);
        return found ? std::to_string(found->line) + ": " + found->what : "";
    };
    EXPECT_EQ(fault("int a; // \u00fc\t\r\n/* b\n */ char c = '\f';\n// c"), "");
    EXPECT_EQ(fault("\n// a\rb\n"), "2: holds '\\x0d', which is not shown");
    EXPECT_EQ(fault("/*\n\u202e */"), "1: holds '\\u202e', which is not shown");
    EXPECT_EQ(fault("// \xff"), "1: holds '\\xff', which is not shown");
    for (const char* end : {"\\", "\\ ", "\\\r", "?\?/"})
        EXPECT_EQ(fault("a\nb // c" + std::string(end) + "\n"),
                  "2: ends with a backslash, which makes the next line a part of it");
}

TEST(Comment, EmittedTextMustShowItsOperator)
{
    const auto op = sum();
    const auto source = emitted(op);
    EXPECT_EQ(failure(source, op), "accepted");
    auto other = op;
    other.name = "product";
    const std::string begin = "internal error: the emitted text of operator ";
    EXPECT_EQ(failure(source, other),
              begin +
                  "product does not show it: 'operator product(x: i32) -> i32 {' is meant and 'operator "
                  "sum(x: i32) -> i32 {' is read");
    EXPECT_EQ(failure("// nothing\n", op), begin + "sum does not show it: its heading has no operator");
    EXPECT_EQ(failure("// operator sum(x: i32) {\n// }\n", op),
              begin +
                  "sum does not show it: it does not read back: printed:1:10: operator sum has no state\n"
                  "    operator sum(x: i32) {\n             ^^^  write 'state NAME: TYPE = IDENTITY' or "
                  "'state { NAME: TYPE; ... }'");
    EXPECT_EQ(failure(source + "// a\rb\n", op),
              "internal error: line " + std::to_string(std::ranges::count(source, '\n') + 1) +
                  " of the emitted text: the comment holds '\\x0d', which is not shown");
}

TEST(Comment, OperatorsBuiltInCppCannotLeaveTheirs)
{
    auto op = sum();
    op.description = "one\r int evil;\n}\noperator sum(x: i32) -> i32 {\n\f\\";
    const auto source = emitted(op);
    EXPECT_NE(source.find("// one\\x0d int evil;\n// }\n// operator sum(x: i32) -> i32 {\n// \\x0c\\x5c\n// "
                          "operator sum(x: i32) -> i32 {\n//   state s: i32 = 0\n"),
              std::string::npos)
        << source;
    op.name = "sum(x: i32) -> i32 { }\n#";
    EXPECT_THROW(emitted(op), InternalError);
    EXPECT_THROW(emit_peer(Problem(op, SegmentForm::offsets), peer("thrust_reduce_by_key")), InternalError);
}

struct Wide : State {
    std::vector<Field<std::int64_t>> fields;
    Wide()
    {
        for (int i = 0; i < 70; ++i)
            fields.emplace_back("s" + std::to_string(i));
    }
};

TEST(Comment, TextsLongerThanAUsersMayBeReadBack)
{
    const auto op = define<Wide>("wide", [](auto& op) {
        Column<std::int64_t> x(op, "x");
        Table<std::int64_t> table(op, std::string(kLongestName, 't'));
        op.lift([&](auto& s) {
            Value<std::int64_t> value = x;
            for (int i = 0; i < 250; ++i)
                value = table[value];
            for (auto& field : s.fields)
                field = value;
        });
        op.combine([](auto a, auto) { return a; });
    });
    ASSERT_GT(print(op).size(), std::size_t{1} << 20);
    EXPECT_GT(emitted(op).size(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace segfold::comment_test
