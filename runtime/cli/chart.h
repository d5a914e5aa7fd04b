#pragma once
// Bars and lines with axes, legends and every value in words.
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/svg.h"

namespace segfold::cli {

/// A value, with the text that stands beside it: "8.054 ms, 1.00x".
struct Mark {
    double value = 0;  ///< above 0
    std::string text;
};

/// What one colour stands for: perhaps a mark for each category or size.
struct Series {
    std::string name;
    std::vector<std::optional<Mark>> marks;
};

/// A group of horizontal bars for each category.
struct BarChart {
    std::string title, subtitle;
    std::string axis;  ///< what the bars' lengths mean: "time, ms"
    std::vector<std::string> categories;
    std::vector<std::string> notes;  ///< what stands where a category has no bar
    std::vector<Series> series;      ///< each with a mark, or none, for each category
};

/// Lines over sizes, of one source.
struct LinePanel {
    std::string title;
    std::vector<Series> lines;  ///< each with a mark, or none, for each size; the same lines in every panel
};

/// Panels side by side over the same axes; a line has the same colour and shape in all.
struct LineChart {
    std::string title, subtitle;
    std::string axis, size_axis;
    std::vector<double> sizes;  ///< ascending
    std::vector<std::string> size_texts;
    std::vector<LinePanel> panels;
};

/// Draws with a logarithmic axis where the largest value is more than 20 times the smallest.
[[nodiscard]] Drawing draw(const BarChart& chart);
[[nodiscard]] Drawing draw(const LineChart& chart);

}  // namespace segfold::cli
