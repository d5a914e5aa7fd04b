#pragma once
// Prints the tables of a paper's experiments of three kinds: probes, transfers and timers.
#include <string>

#include "runtime/papers/files.h"

namespace segfold::cli {

/// Returns a table with a row for each probe: time, bandwidth, the bandwidth relative to the first row as
/// published (`efficiency`) and as measured, and the registers, shared and local bytes used.
[[nodiscard]] std::string print_probes(const papers::Paper& paper, const papers::Experiment& experiment,
                                       const papers::MeasuredPaper* measured);

/// Returns a table of times by events and by the host's clock, bandwidth, and bandwidth relative to the
/// pinned copy. Below the table, each row that overlaps copies with folds has a line with its share of the
/// pinned copy's bandwidth.
[[nodiscard]] std::string print_transfers(const papers::Paper& paper, const papers::Experiment& experiment,
                                          const papers::MeasuredPaper* measured);

/// Returns a table of the times of one launch by events and by the host's clock. The host's time includes the
/// launch and the wait for its end.
[[nodiscard]] std::string print_timers(const papers::Experiment& experiment,
                                       const papers::MeasuredPaper* measured);

/// Returns a table of a contest's workloads: shares of the ceiling that were stated before, by device; if it
/// is measured, the plan that a run takes and the best peer, with their shares, and how many times as fast
/// the plan is. The last row has geometric means.
[[nodiscard]] std::string print_contest(const papers::Paper& paper, const papers::Experiment& experiment,
                                        const papers::MeasuredPaper* measured);

}  // namespace segfold::cli
