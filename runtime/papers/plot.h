#pragma once
// A paper's figures with our measurements in them.
#include <string>
#include <vector>

#include "runtime/papers/files.h"

namespace segfold::papers {

/// The format of a plot: drawings alone, or a page with their numbers.
enum class PlotFormat { svg, html };

/// The format that a file's name asks for. Throws InputError for endings other than .svg and .html.
[[nodiscard]] PlotFormat plot_format(const std::string& path);

/// Draws every experiment that has numbers: a bar for each rung as published and, where `measured` has it, as
/// measured, or lines over sizes where at least three experiments differ in nothing else.
///
/// Throws InputError where none has a number.
[[nodiscard]] std::string plot(const Paper& paper, const std::vector<const Experiment*>& experiments,
                               const MeasuredPaper* measured, PlotFormat format);

/// Writes a plot to a file. Throws InputError if it cannot.
void save_plot(const std::string& path, const Paper& paper, const std::vector<const Experiment*>& experiments,
               const MeasuredPaper* measured);

}  // namespace segfold::papers
