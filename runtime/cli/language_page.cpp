#include "runtime/cli/language_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "dsl/embedded_file.h"

namespace segfold {

std::span<const EmbeddedFile> language_files();

namespace cli {
namespace {

/// The sections of dsl/README.md for users of the program; the other sections are for developers.
constexpr std::array<std::string_view, 8> kSections = {"Parts",
                                                       "Functions, arrays, loops, scalars, products",
                                                       "Write-back",
                                                       "Running results",
                                                       "Gradients",
                                                       "Rows",
                                                       "Types and expressions",
                                                       "Grammar"};

/// Replaces each Markdown link by its text. Appends the address in parentheses if it is on another site.
std::string without_links(std::string_view line)
{
    std::string text;
    bool is_code = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const auto middle = line[at] == '[' && !is_code ? line.find("](", at) : line.npos;
        const auto end = middle == line.npos ? line.npos : line.find(')', middle);
        if (end == line.npos || line.substr(at + 1, middle - at).find('[') != line.npos) {
            is_code = is_code != (line[at] == '`');
            text += line[at];
            continue;
        }
        text += line.substr(at + 1, middle - at - 1);
        if (const auto target = line.substr(middle + 2, end - middle - 2); target.starts_with("http"))
            text += fmt::format(" ({})", target);
        at = end;
    }
    return text;
}

/// Splits a row of a Markdown table at `|`, but not within backquotes.
std::vector<std::string> split_row(std::string_view row)
{
    std::vector<std::string> cells(1);
    bool is_code = false;
    for (const char c : row.substr(1)) {
        if (c == '`')
            is_code = !is_code;
        else if (c == '|' && !is_code)
            cells.emplace_back();
        else
            cells.back() += c;
    }
    cells.pop_back();  // the empty cell after the last `|`
    for (auto& cell : cells) {
        cell.erase(0, cell.find_first_not_of(' '));
        cell.erase(cell.find_last_not_of(' ') + 1);
    }
    return cells;
}

/// Aligns cells in columns. Leaves the last column unpadded.
std::string align(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths.resize(std::max(widths.size(), i + 1));
            widths[i] = std::max(widths[i], row[i].size());
        }
    std::string text;
    for (const auto& row : rows) {
        std::string line = "   ";
        for (std::size_t i = 0; i < row.size(); ++i)
            line += fmt::format(" {:{}}{}", row[i], widths[i], i + 1 == row.size() ? "" : " ");
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

/// Converts Markdown to terminal text, without markup and links, with aligned tables and indented code.
class TerminalPage {
public:
    void add(std::string_view line)
    {
        const bool is_row = line.starts_with("| ") && !is_code_;
        if (!is_row)
            end_table();
        if (line.starts_with("```"))
            is_code_ = !is_code_;
        else if (is_code_)
            text_ += fmt::format("    {}\n", line);
        else if (is_row && !line.starts_with("| ---"))
            rows_.push_back(split_row(without_links(line)));
        else if (!is_row)
            add_prose(line);
    }

    std::string finish() &&
    {
        end_table();
        return std::move(text_);
    }

private:
    void add_prose(std::string_view line)
    {
        if (line.starts_with("## "))
            line.remove_prefix(3);
        auto words = without_links(line);
        std::erase(words, '`');
        text_ += words + "\n";
    }

    void end_table()
    {
        text_ += align(rows_);
        rows_.clear();
    }

    std::string text_;
    std::vector<std::vector<std::string>> rows_;
    bool is_code_ = false;
};

}  // namespace

std::string language_page()
{
    TerminalPage page;
    page.add("The language of operators ('segfold help operator' shows a file in full)");
    page.add("");
    bool is_wanted = false;
    for (std::string_view rest = language_files().front().text; !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.starts_with("## "))
            is_wanted = std::ranges::find(kSections, line.substr(3)) != kSections.end();
        if (is_wanted)
            page.add(line);
    }
    auto text = std::move(page).finish();
    return text.substr(0, text.find_last_not_of('\n') + 1) + "\n";
}

}  // namespace cli
}  // namespace segfold
