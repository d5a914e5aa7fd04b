#pragma once
// Charts with their numbers as a page for a browser, on screens wide and narrow, light and dark.
#include <string>
#include <variant>
#include <vector>

#include "runtime/papers/chart.h"

namespace segfold::papers {

using Chart = std::variant<BarChart, LineChart>;

/// The contents of a page.
struct Page {
    std::string heading;
    std::vector<std::string> paragraphs;  ///< below it
    std::vector<Chart> charts;
};

/// The page as one HTML file that needs no other.
[[nodiscard]] std::string html(const Page& page);

}  // namespace segfold::papers
