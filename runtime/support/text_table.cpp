#include "runtime/support/text_table.h"

#include <algorithm>

#include "dsl/message/visible.h"

namespace segfold {
namespace {

/// Returns the number of characters in a UTF-8 text. Wide characters count as one.
std::size_t width(const std::string& text)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns))
{
    for (auto& column : columns_)
        column.title = visible(column.title);
}

void TextTable::add(std::vector<std::string> row)
{
    for (auto& cell : row)
        cell = visible(cell);
    rows_.push_back(std::move(row));
}

std::string TextTable::print(std::size_t indent) const
{
    std::vector<std::string> titles;
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        titles.push_back(columns_[i].title);
        widths.push_back(width(columns_[i].title));
        for (const auto& row : rows_)
            widths[i] = std::max(widths[i], width(row[i]));
    }
    std::string text;
    const auto add_line = [&](const std::vector<std::string>& cells) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string padding(widths[i] - width(cells[i]), ' ');
            line += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    };
    if (std::ranges::any_of(titles, [](const auto& title) { return !title.empty(); }))
        add_line(titles);
    for (const auto& row : rows_)
        add_line(row);
    return text;
}

std::string print_facts(const std::vector<std::pair<std::string, std::string>>& facts)
{
    std::size_t widest = 0;
    for (const auto& [name, text] : facts)
        widest = std::max(widest, width(name));
    std::string all;
    for (const auto& [name, text] : facts) {
        const auto indent = std::string(widest + 2, ' ');
        auto lines = text;
        for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += indent.size() + 1)
            lines.insert(at + 1, indent);
        all += name + indent.substr(width(name)) + lines + "\n";
    }
    return all;
}

std::string count_text(std::int64_t count, const std::string& noun)
{
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string there_are(std::int64_t count, const std::string& noun)
{
    return (count == 1 ? "there is " : "there are ") + count_text(count, noun);
}

std::string indented(std::string text)
{
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at)
        text.replace(at, 1, "\n    ");
    return "    " + text + "\n";
}

}  // namespace segfold
