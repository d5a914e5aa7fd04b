#pragma once
// Plots a paper's figures together with the measurements.
#include <string>
#include <vector>

#include "runtime/papers/files.h"

namespace segfold::papers {

/// Format of a plot: drawings only, or a page that also has the numbers.
enum class PlotFormat { svg, html };

/// Returns the format for a file's name. Throws InputError if it does not end in .svg or .html.
[[nodiscard]] PlotFormat plot_format(const std::string& path);

/// Draws every experiment that has numbers.
///
/// A rung has a bar for its published number and, if `measured` has the rung, a bar for its measurement. If
/// at least three experiments differ only in size, they are drawn as lines over sizes instead. Throws
/// InputError if no experiment has a number.
[[nodiscard]] std::string plot(const Paper& paper, const std::vector<const Experiment*>& experiments,
                               const MeasuredPaper* measured, PlotFormat format);

/// Writes a plot to a file. Throws InputError if the file cannot be written.
void save_plot(const std::string& path, const Paper& paper, const std::vector<const Experiment*>& experiments,
               const MeasuredPaper* measured);

}  // namespace segfold::papers
