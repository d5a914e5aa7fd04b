#pragma once
// Charts as specifications of Vega-Lite with their data: bars with every value in words, and lines over
// sizes.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/json_value.h"

namespace segfold::charts {

/// Colours of bars. They can be read on light and on dark pages. Most are Okabe and Ito's, which people with
/// any colour vision can distinguish.
inline constexpr std::string_view kBlue = "#0072b2", kOrange = "#d55e00", kGreen = "#009e73",
                                  kAmber = "#b07d00", kGrey = "#808080";

/// A value and the text shown beside it: "8.054 ms, 1.00x".
struct Mark {
    double value = 0;  ///< above 0
    std::string text;
    std::string more = {};  ///< shown after `text` in tips and tables
};

/// Marks of one colour, at most one for each row or size.
struct Series {
    std::string name;
    std::vector<std::optional<Mark>> marks;
    std::string_view colour = kGrey;  ///< of bars; a line's follows from its index
};

/// The room that the axis of a bar chart needs.
struct Extent {
    double least = 0, greatest = 0;  ///< range of the values
    std::size_t letters = 0;         ///< of the longest text beside a bar

    bool operator==(const Extent&) const = default;
};

/// Horizontal bars. Each row's name stands above its bars, so that a chart is as good on a narrow page.
struct BarChart {
    std::string title, subtitle;
    std::string axis;  ///< quantity that the bars show: "time, ms"
    std::vector<std::string> rows;
    std::vector<std::string> notes;  ///< one for each row, shown where the row has no bar
    std::vector<Series> series;      ///< each has one entry per row, empty if there is no bar
    /// Set if several charts share one axis range. If empty, the range follows from the chart's own marks.
    std::optional<Extent> extent = {};
};

/// Lines of one source over sizes.
struct LinePanel {
    std::string title;
    /// A line has one mark for each size, or none where the source has no number. All panels of a chart have
    /// the same lines.
    std::vector<Series> lines;
};

/// Panels side by side with the same axes.
struct LineChart {
    std::string title, subtitle;
    std::string axis, size_axis;
    std::vector<std::int64_t> sizes;  ///< ascending
    std::vector<std::string> size_texts;
    std::vector<LinePanel> panels;
};

/// Returns the range of a chart's values and the length of its longest text.
[[nodiscard]] Extent extent_of(const BarChart& chart);

/// Returns the specification of a chart. Its axis is logarithmic if the largest value is more than 20 times
/// the smallest. Bars are as wide as their page; so is a line chart of one panel.
[[nodiscard]] Json vega_lite(const BarChart& chart);
[[nodiscard]] Json vega_lite(const LineChart& chart);

/// Returns one specification with all charts below each other, of a fixed width; of one chart, the chart
/// itself. There must be at least one.
[[nodiscard]] Json vega_lite(std::vector<Json> charts);

}  // namespace segfold::charts
