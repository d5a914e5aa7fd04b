#pragma once
// Files of charts: specifications of Vega-Lite, and what a Python with vl-convert renders of them.
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/arguments/arguments.h"
#include "runtime/support/json_value.h"

namespace segfold::cli {

inline constexpr Flag kChartFlags[] = {{"vega", "FILE"}, {"plot", "FILE"}};

/// Charts, and what a page says above them.
struct ChartPage {
    std::string heading;
    std::vector<std::string> paragraphs;
    std::vector<Json> charts;  ///< specifications of Vega-Lite, at least one
};

/// The files that --vega and --plot name.
class ChartFiles {
public:
    /// Throws InputError before anything is measured: if a file cannot be written, if the file of --plot is
    /// of another kind, or if no Python here has vl-convert.
    explicit ChartFiles(const Arguments& arguments);

    /// Returns the flag that was given, "--plot" or "--vega"; empty if there is none.
    [[nodiscard]] std::string asked_by() const;
    /// Writes the files that were asked for.
    void write(const ChartPage& page) const;

private:
    std::optional<std::string> specification_, plot_;
    std::string python_;
};

}  // namespace segfold::cli
