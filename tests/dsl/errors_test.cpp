// Every text of tests/errors is refused with exactly the message that its leading comment lines hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "dsl/message/visible.h"
#include "dsl/text/parser.h"

namespace segfold::errors_test {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(SEGFOLD_SOURCE_DIR) / "tests" / "errors";

std::string read(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The lines without the blanks at their ends, which no editor keeps.
std::string without_trailing_blanks(const std::string& text)
{
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        result += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    return result;
}

/// The comment lines that a text begins with, without their marks.
std::string leading_comment(const std::string& text)
{
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line.starts_with('#');)
        result += (line.starts_with("# ") ? line.substr(2) : line.substr(1)) + '\n';
    return result;
}

std::vector<std::filesystem::path> cases()
{
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(kFolder))
        if (entry.path().extension() == ".seg")
            paths.push_back(entry.path());
    std::ranges::sort(paths);
    return paths;
}

TEST(Errors, EveryTextIsRefusedWithTheMessageAboveIt)
{
    const auto paths = cases();
    ASSERT_GE(paths.size(), 100u);
    for (const auto& path : paths) {
        SCOPED_TRACE(path.filename().string());
        const auto text = read(path);
        try {
            parse_operator(path.filename().string(), text);
            ADD_FAILURE() << "accepted";
        } catch (const SpecError& error) {
            EXPECT_EQ(without_trailing_blanks(error.what()), leading_comment(text));
            EXPECT_EQ(error.exit_code(), 2);
        }
    }
}

TEST(Errors, EveryTextBeginsWithItsPlace)
{
    for (const auto& path : cases())
        EXPECT_TRUE(leading_comment(read(path)).starts_with(path.filename().string() + ":")) << path;
}

TEST(Visible, ShownCharactersStay)
{
    for (const auto* text : {"", "a + b  # \\x1b", "Gr\u00f6\u00dfe \u2211 \U0001f600", "\u00a0\ufeff"})
        EXPECT_EQ(visible(text), text);
}

TEST(Visible, ControlCharactersAreEscaped)
{
    using namespace std::string_literals;
    EXPECT_EQ(visible("\x1b[31m\a\r\n\t\v\f\x7f\0"s), "\\x1b[31m\\x07\\x0d\\x0a\\x09\\x0b\\x0c\\x7f\\x00");
    EXPECT_EQ(visible("\u0080\u0085\u009b\u009f"), "\\u0080\\u0085\\u009b\\u009f");
    EXPECT_EQ(visible("\u2028 \u2029"), "\\u2028 \\u2029");
    EXPECT_EQ(visible("\u061c\u200e\u200f\u202a\u202e\u2066\u2069"),
              "\\u061c\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069");
}

TEST(Visible, WhatIsNoUtf8IsEscapedByteByByte)
{
    EXPECT_EQ(visible("\xff \xc2"), "\\xff \\xc2");
    EXPECT_EQ(visible("\xc0\x8a|\xed\xa0\x80|\xe2\x80"), "\\xc0\\x8a|\\xed\\xa0\\x80|\\xe2\\x80");
}

}  // namespace
}  // namespace segfold::errors_test
