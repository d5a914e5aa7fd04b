// Every text of tests/errors is refused with exactly the message in its leading comment lines. It is accepted
// after the changes in its lines with #>, which follow the advice of the message.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
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

/// Removes blanks at the ends of lines, which editors do not keep.
std::string without_trailing_blanks(const std::string& text)
{
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        result += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    return result;
}

/// The leading comment lines of a text, without their marks.
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

/// A line "#> WRONG => RIGHT" follows the advice of a message: in the text, RIGHT replaces WRONG. A line "#+
/// WRONG => RIGHT" below it changes the same text further.
struct Mending {
    std::string wrong, right;
    bool is_further = false;
};

std::vector<Mending> mendings(const std::string& text)
{
    std::vector<Mending> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("#> ") || line.starts_with("#+ ")) {
            const auto arrow = line.find(" =>");
            const auto right = line.substr(std::min(arrow + 4, line.size()));
            found.push_back({line.substr(3, arrow - 3), right, line[1] == '+'});
        }
    return found;
}

/// Names, numbers and operations.
std::set<std::string> words(const std::string& text)
{
    const std::regex word("\\w+|[-+*/%<>=!&|^~?:]+");
    return {std::sregex_token_iterator(text.begin(), text.end(), word), std::sregex_token_iterator()};
}

/// Follows the message's advice in a text. Every word of the replacement must stand in the message or in the
/// text.
void mend(std::string& text, const std::string& refused, const Mending& mending)
{
    std::size_t begin = 0;
    while (refused[begin] == '#')
        begin = refused.find('\n', begin) + 1;
    const auto at = text.find(mending.wrong, begin);
    ASSERT_NE(at, text.npos) << mending.wrong << " is nowhere";
    text.replace(at, mending.wrong.size(), mending.right);
    for (const auto& word : words(mending.right)) {
        const bool is_given = refused.substr(0, refused.find("#>")).find(word) != refused.npos;
        EXPECT_TRUE(is_given || mending.is_further || word == "0" || word == "1")
            << "the message does not advise " << word;
    }
}

TEST(Errors, AdviceCanBeFollowed)
{
    int count = 0;
    for (const auto& path : cases()) {
        SCOPED_TRACE(path.filename().string());
        const auto refused = read(path);
        const auto steps = mendings(refused);
        std::string text;
        for (std::size_t i = 0; i < steps.size(); ++i, ++count) {
            text = steps[i].is_further ? text : refused;
            mend(text, refused, steps[i]);
            if (i + 1 == steps.size() || !steps[i + 1].is_further) {
                EXPECT_NO_THROW(parse_operator("mended", text)) << text;
            }
        }
    }
    EXPECT_GE(count, 50);
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
