#pragma once
// A paper's tables: what was published beside what was measured.
#include <string>

#include "runtime/cli/paper_files.h"

namespace segfold::cli {

/// Who wrote what, where, the claim in a sentence, and on what it was published and measured.
[[nodiscard]] std::string print_heading(const Paper& paper, const MeasuredPaper* measured);

/// One experiment: a line for each row, as published and, where `measured` has the row, as measured.
///
/// A ladder shows time, bandwidth, the step from the rung before and all steps so far, and, where either side
/// has them, the speed-up over a CPU and what starting a launch takes; then the steps that went another way.
/// Probes show time, bandwidth beside that of the first row, and what they take of a multiprocessor;
/// transfers time by both clocks and bandwidth beside that of the pinned copy; timers what events and what
/// the host's clock say.
[[nodiscard]] std::string print_experiment(const Paper& paper, const Experiment& experiment,
                                           const MeasuredPaper* measured);

}  // namespace segfold::cli
