#pragma once
// A paper's tables: published numbers beside measured ones.
#include <string>

#include "runtime/papers/files.h"

namespace segfold::cli {

/// Who wrote what, where, the claim in a sentence, and on what it was published and measured.
[[nodiscard]] std::string print_heading(const papers::Paper& paper, const papers::MeasuredPaper* measured);

/// One experiment: a line for each row, as published and, where `measured` has the row, as measured.
///
/// A ladder shows time, bandwidth, the step from the rung before and all steps so far, and, where either side
/// has them, the speed-up over a CPU and what starting a launch takes; then the steps that went another way.
/// Probes show time, bandwidth beside that of the first row, and what they take of a multiprocessor;
/// transfers time by both clocks and bandwidth beside that of the pinned copy; timers what events and what
/// the host's clock say.
[[nodiscard]] std::string print_experiment(const papers::Paper& paper, const papers::Experiment& experiment,
                                           const papers::MeasuredPaper* measured);

}  // namespace segfold::cli
