#pragma once
// Bars and lines with axes, legends and every value in words.
#include <optional>
#include <string>
#include <vector>

#include "runtime/papers/svg.h"

namespace segfold::papers {

/// A value, with the text that stands beside it: "8.054 ms, 1.00x".
struct Mark {
    double value = 0;  ///< above 0
    std::string text;
    std::string more = {};  ///< what tips and tables say behind it
};

/// What one colour stands for: perhaps a mark for each category or size.
struct Series {
    std::string name;
    std::vector<std::optional<Mark>> marks;
    Paint paint = kInk;  ///< of bars; lines of a panel have those of their places
};

/// What an axis of bars has to have room for.
struct Extent {
    double least = 0, greatest = 0;  ///< values
    double text_width = 0;           ///< of the texts behind bars, in pixels
};

/// A group of horizontal bars for each category.
struct BarChart {
    std::string title, subtitle;
    std::string axis;  ///< what the bars' lengths mean: "time, ms"
    std::vector<std::string> categories;
    std::vector<std::string> notes;  ///< what stands where a category has no bar
    std::vector<Series> series;      ///< each with a mark, or none, for each category
    std::optional<Extent>
        extent;  ///< of the axis, where charts are to have the same; else of this chart alone
};

/// Lines over sizes, of one source.
struct LinePanel {
    std::string title;
    std::vector<Series> lines;  ///< each with a mark, or none, for each size; the same lines in every panel
    Paint paint = kInk;         ///< of the stripe above it
};

/// Panels side by side over the same axes; a line has the same colour and shape in all.
struct LineChart {
    std::string title, subtitle;
    std::string axis, size_axis;
    std::vector<double> sizes;  ///< ascending
    std::vector<std::string> size_texts;
    std::vector<LinePanel> panels;
};

inline constexpr double kWideChart = 960;  ///< pixels, for a desk
inline constexpr double kNarrowChart =
    360;  ///< for a hand: names above their bars, panels one below the other

/// What the marks of a chart take.
[[nodiscard]] Extent extent_of(const BarChart& chart);

/// Draws with a logarithmic axis where the largest value is more than 20 times the smallest.
[[nodiscard]] Drawing draw(const BarChart& chart, double width = kWideChart);
[[nodiscard]] Drawing draw(const LineChart& chart, double width = kWideChart);

}  // namespace segfold::papers
