#pragma once
// Makes an HTML page of charts and numbers, for wide and narrow, light and dark screens.
#include <string>
#include <variant>
#include <vector>

#include "runtime/papers/chart.h"

namespace segfold::papers {

using Chart = std::variant<BarChart, LineChart>;

/// Contents of a page.
struct Page {
    std::string heading;
    std::vector<std::string> paragraphs;  ///< below the heading
    std::vector<Chart> charts;
};

/// Returns the page as a self-contained HTML file.
[[nodiscard]] std::string html(const Page& page);

}  // namespace segfold::papers
