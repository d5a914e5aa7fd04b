#pragma once
// Shows a paper's tables: published numbers beside measured ones.
#include <string>

#include "runtime/papers/files.h"

namespace segfold::cli {

/// Returns authors, title and place of the paper, its claim in one sentence, and the devices of both
/// measurements.
[[nodiscard]] std::string print_heading(const papers::Paper& paper, const papers::MeasuredPaper* measured);

/// Returns the table of one experiment: a line for each row, as published and, if it is in `measured`, as
/// measured.
///
/// A ladder shows time, bandwidth, the step from the previous rung and from the first, and if known the
/// speed-up over a CPU and the time to start a launch; then it lists steps whose direction changed. Probes
/// show time, bandwidth relative to the first row, and resources used. Transfers show times by both clocks,
/// and bandwidth relative to the pinned copy. Timers show times by events and by the host's clock.
[[nodiscard]] std::string print_experiment(const papers::Paper& paper, const papers::Experiment& experiment,
                                           const papers::MeasuredPaper* measured);

}  // namespace segfold::cli
