#pragma once
// Shows a paper's tables: published numbers beside measured ones.
#include <string>

#include "runtime/papers/files.h"

namespace segfold::cli {

/// Returns the paper's authors, title and place, its claim in one sentence, and the devices of published and
/// new measurements.
[[nodiscard]] std::string print_heading(const papers::Paper& paper, const papers::MeasuredPaper* measured);

/// Returns the table of one experiment. A row has published numbers and, if `measured` contains it, measured
/// numbers.
///
/// A ladder (a series of improved kernels) shows time, bandwidth, and the gains over the previous row and
/// over the first; if known, also the speed-up over a CPU and the time to start a launch. Lines below list
/// steps whose direction changed. Probes show time, bandwidth relative to the first row, and resources used.
/// Transfers show times by both clocks, and bandwidth relative to the pinned copy. Timers show times by
/// events and by the host's clock.
[[nodiscard]] std::string print_experiment(const papers::Paper& paper, const papers::Experiment& experiment,
                                           const papers::MeasuredPaper* measured);

}  // namespace segfold::cli
