#pragma once
// Bar charts and line charts with axes, legends and every value as text.
#include <optional>
#include <string>
#include <vector>

#include "runtime/papers/svg.h"

namespace segfold::papers {

/// A value and the text shown beside it: "8.054 ms, 1.00x".
struct Mark {
    double value = 0;  ///< above 0
    std::string text;
    std::string more = {};  ///< shown after `text` in tips and tables
};

/// Marks of one colour, at most one for each category or size.
struct Series {
    std::string name;
    std::vector<std::optional<Mark>> marks;
    Paint paint = kInk;  ///< colour of bars; a line's colour follows from its index in the panel
};

/// The room that the axis of a bar chart needs.
struct Extent {
    double least = 0, greatest = 0;  ///< range of the values
    double text_width = 0;           ///< width of the widest text beside a bar, in pixels
};

/// Horizontal bars, in one group per category.
struct BarChart {
    std::string title, subtitle;
    std::string axis;  ///< quantity that the bars show: "time, ms"
    std::vector<std::string> categories;
    std::vector<std::string> notes;  ///< one for each category; shown if the category has no bar
    std::vector<Series> series;      ///< each has one entry per category, empty if there is no bar
    /// Set if several charts share one axis range. If empty, the range follows from the chart's own marks.
    std::optional<Extent> extent;
};

/// A panel of a line chart. It shows one source's numbers as lines over sizes.
struct LinePanel {
    std::string title;
    /// A line has one mark for each size, or none where the source has no number. All panels have the same
    /// lines.
    std::vector<Series> lines;
    Paint paint = kInk;  ///< colour of the stripe above the panel
};

/// Panels side by side with the same axes. A line has the same colour and shape in all of them.
struct LineChart {
    std::string title, subtitle;
    std::string axis, size_axis;
    std::vector<double> sizes;  ///< ascending
    std::vector<std::string> size_texts;
    std::vector<LinePanel> panels;
};

inline constexpr double kWideChart = 960;  ///< width for a desk screen, in pixels
/// Width for a phone, in pixels. Names then stand above their bars, and panels below each other.
inline constexpr double kNarrowChart = 360;

/// Returns the range of a chart's values and the width of its widest text.
[[nodiscard]] Extent extent_of(const BarChart& chart);

/// Draws the chart. The axis is logarithmic if the largest value is more than 20 times the smallest.
[[nodiscard]] Drawing draw(const BarChart& chart, double width = kWideChart);
[[nodiscard]] Drawing draw(const LineChart& chart, double width = kWideChart);

}  // namespace segfold::papers
