#pragma once
// Writes chart files: Vega-Lite specifications, and pages or drawings that Python's vl-convert renders from
// them.
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/support/json_value.h"

namespace segfold::cli {

inline constexpr Flag kChartFlags[] = {{"vega", "FILE"}, {"plot", "FILE"}};

/// Charts, with a heading and paragraphs of text above them.
struct ChartPage {
    std::string heading;
    std::vector<std::string> paragraphs;
    std::vector<Json> charts;  ///< Vega-Lite specifications, at least one
};

/// The files that --vega and --plot name.
class ChartFiles {
public:
    /// Reads the flags. Throws InputError if a file cannot be written, if --plot has another file type than
    /// .svg or .html, or if no Python here has vl-convert.
    explicit ChartFiles(const Arguments& arguments);

    /// Returns the flag that was given, "--plot" or "--vega"; empty if there is none.
    [[nodiscard]] std::string asked_by() const;
    /// Writes the requested files.
    void write(const ChartPage& page) const;

private:
    std::optional<std::string> specification_, plot_;
    std::string python_;
};

}  // namespace segfold::cli
