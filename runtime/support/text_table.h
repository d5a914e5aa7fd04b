#pragma once
// Prints aligned columns of text.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace segfold {

inline constexpr double kGigabyte = 1e9;

/// A table of text: rows under titles. Columns are two blanks apart, numbers are right-aligned, and lines
/// have no trailing blanks. Control characters appear as escapes, so a cell is always one line.
class TextTable {
public:
    enum class Align : unsigned char { left, right };

    struct Column {
        std::string title;
        Align align = Align::left;
    };

    explicit TextTable(std::vector<Column> columns);

    /// Adds a row with one cell for each column.
    void add(std::vector<std::string> row);
    [[nodiscard]] bool empty() const { return rows_.empty(); }

    /// Prints titles and rows, each with a newline, indented by `indent` blanks. Titles are omitted if all
    /// are empty.
    [[nodiscard]] std::string print(std::size_t indent = 0) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Prints names and texts in two columns, as in "stage     tile_scan". All lines of a text stay in the second
/// column.
std::string print_facts(const std::vector<std::pair<std::string, std::string>>& facts);

/// Returns a count with its noun, such as "1 segment" or "2048 segments".
std::string count_text(std::int64_t count, const std::string& noun);

/// Returns text such as "there is 1 segment" or "there are 2048 segments".
std::string there_are(std::int64_t count, const std::string& noun);

/// Indents each line of `text` by four blanks and ends it with a newline.
[[nodiscard]] std::string indented(std::string text);

}  // namespace segfold
