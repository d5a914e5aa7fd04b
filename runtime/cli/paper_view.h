#pragma once
// A paper's tables: what was published beside what was measured.
#include <string>

#include "runtime/cli/paper_files.h"

namespace segfold::cli {

/// Who wrote what, where, the claim in a sentence, and on what it was published and measured.
[[nodiscard]] std::string print_heading(const Paper& paper, const MeasuredPaper* measured);

/// One experiment: a line for each rung with time, bandwidth, the step from the rung before and all steps so
/// far, as published and, where `measured` has the rung, as measured; then the steps that went another way.
[[nodiscard]] std::string print_experiment(const Paper& paper, const Experiment& experiment,
                                           const MeasuredPaper* measured);

}  // namespace segfold::cli
