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
    std::string more = {};  ///< text behind it in tips and tables
};

/// The marks of one colour: at most one for each category or size.
struct Series {
    std::string name;
    std::vector<std::optional<Mark>> marks;
    Paint paint = kInk;  ///< of bars; lines have the places of their panel
};

/// The widths that an axis of bars must have room for.
struct Extent {
    double least = 0, greatest = 0;  ///< values
    double text_width = 0;           ///< of the texts behind bars, in pixels
};

/// A group of horizontal bars for each category.
struct BarChart {
    std::string title, subtitle;
    std::string axis;  ///< meaning of the bars' lengths: "time, ms"
    std::vector<std::string> categories;
    std::vector<std::string> notes;  ///< text in place of a missing bar
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

/// The colours and shapes of a chart's marks.
[[nodiscard]] Extent extent_of(const BarChart& chart);

/// Draws with a logarithmic axis where the largest value is more than 20 times the smallest.
[[nodiscard]] Drawing draw(const BarChart& chart, double width = kWideChart);
[[nodiscard]] Drawing draw(const LineChart& chart, double width = kWideChart);

}  // namespace segfold::papers
