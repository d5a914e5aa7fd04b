#pragma once
// Shows a paper's tables: published numbers beside measured ones.
#include <string>

#include "runtime/papers/files.h"

namespace segfold::cli {

/// Returns the paper's authors, title, place and claim, and the devices of the published and the new
/// measurements.
[[nodiscard]] std::string print_heading(const papers::Paper& paper, const papers::MeasuredPaper* measured);

/// Returns the table of one experiment. A row has published numbers and, if `measured` contains it, measured
/// ones.
///
/// A ladder (a series of improved kernels) shows time, bandwidth, and the speed-up over the previous and the
/// first row. If known, it also shows the speed-up over a CPU and the launch time. Lines below the table list
/// steps whose direction differs between paper and measurement.
///
/// Probes show time, bandwidth relative to the first row, and resources. Transfers show times by events and
/// by the host's clock, and bandwidth relative to the pinned copy. Timers show times by events and by the
/// host's clock.
[[nodiscard]] std::string print_experiment(const papers::Paper& paper, const papers::Experiment& experiment,
                                           const papers::MeasuredPaper* measured);

}  // namespace segfold::cli
