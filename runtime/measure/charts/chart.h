#pragma once
// Converts charts to Vega-Lite specifications with their data: bar charts with a text beside each bar, and
// line charts over sizes.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/json_value.h"

namespace segfold::charts {

/// Colours of bars, legible on light and dark pages. Most are from the palette of Okabe and Ito, which people
/// with any colour vision can distinguish.
inline constexpr std::string_view kBlue = "#0072b2", kOrange = "#d55e00", kGreen = "#009e73",
                                  kAmber = "#b07d00", kGrey = "#808080";

/// A value, and the text beside it, such as "8.054 ms, 1.00x".
struct Mark {
    double value = 0;  ///< must be above 0
    std::string text;
    std::string more = {};  ///< appended to `text` in tooltips and tables
};

/// The marks of one colour: at most one for each row of a bar chart, or for each size of a line chart.
struct Series {
    std::string name;
    std::vector<std::optional<Mark>> marks;
    std::string_view colour = kGrey;  ///< colour of bars; the colour of a line follows from its index
};

/// The size that the axis of a bar chart must have.
struct Extent {
    double least = 0, greatest = 0;  ///< smallest and largest value
    std::size_t letters = 0;         ///< letters of the longest text beside a bar

    bool operator==(const Extent&) const = default;
};

/// A chart of horizontal bars. A row's name stands above its bars, so that the chart also suits narrow pages.
struct BarChart {
    std::string title, subtitle;
    std::string axis;  ///< quantity of the bars, such as "time, ms"
    std::vector<std::string> rows;
    std::vector<std::string> notes;  ///< one per row, shown if the row has no bar
    std::vector<Series> series;      ///< each has one entry per row; an entry is empty if there is no bar
    /// Size of the axis. If empty, it follows from the chart's own marks. Set it to give several charts the
    /// same axis.
    std::optional<Extent> extent = {};
};

/// A panel of a line chart, for one source of numbers.
struct LinePanel {
    std::string title;
    /// One line per series, with one entry per size. An entry is empty if the source has no number. All
    /// panels of a chart must have the same series.
    std::vector<Series> lines;
};

/// Panels side by side, with the same axes.
struct LineChart {
    std::string title, subtitle;
    std::string axis, size_axis;
    std::vector<std::int64_t> sizes;  ///< ascending
    std::vector<std::string> size_texts;
    std::vector<LinePanel> panels;
};

/// Returns the size that the chart's axis needs.
[[nodiscard]] Extent extent_of(const BarChart& chart);

/// Returns a chart's specification. The axis is logarithmic if the largest value is more than 20 times the
/// smallest. Bar charts and line charts with one panel are as wide as their page.
[[nodiscard]] Json vega_lite(const BarChart& chart);
[[nodiscard]] Json vega_lite(const LineChart& chart);

/// Returns a specification with all charts below each other, at a fixed width. Returns a single chart
/// unchanged. `charts` must not be empty.
[[nodiscard]] Json vega_lite(std::vector<Json> charts);

}  // namespace segfold::charts
