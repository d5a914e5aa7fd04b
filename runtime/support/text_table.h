#pragma once
// Aligned columns of text.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace segfold {

inline constexpr double kGigabyte = 1e9;

/// Rows under titles; columns are two blanks apart, numbers go to the right, lines have no blanks at their
/// ends. What a terminal would obey instead of show stands there as escapes: a cell is one line.
class TextTable {
public:
    enum class Align : unsigned char { left, right };

    struct Column {
        std::string title;
        Align align = Align::left;
    };

    explicit TextTable(std::vector<Column> columns);

    /// A cell for each column.
    void add(std::vector<std::string> row);
    [[nodiscard]] bool empty() const { return rows_.empty(); }

    /// Titles and rows, each line ended; without titles where all are empty. `indent` blanks come first.
    [[nodiscard]] std::string print(std::size_t indent = 0) const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Names and texts in two columns, as in "stage     tile_scan"; further lines of a text stay in its column.
std::string print_facts(const std::vector<std::pair<std::string, std::string>>& facts);

/// "1 segment", "2048 segments"
std::string count_text(std::int64_t count, const std::string& noun);

/// "there is 1 segment", "there are 2048 segments"
std::string there_are(std::int64_t count, const std::string& noun);

/// The lines of `text`, each indented by four blanks and ended.
[[nodiscard]] std::string indented(std::string text);

}  // namespace segfold
