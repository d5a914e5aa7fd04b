#pragma once
// Prints tables of experiments that are probes, transfers, timers or contests.
#include <string>

#include "runtime/papers/files.h"

namespace segfold::cli {

/// Returns a table with a row for each probe. It shows time, bandwidth, bandwidth relative to the first row
/// (published and measured), and the registers, shared memory and local memory used.
[[nodiscard]] std::string print_probes(const papers::Paper& paper, const papers::Experiment& experiment,
                                       const papers::MeasuredPaper* measured);

/// Returns a table of transfers: time by events, time by the host's clock, bandwidth, and bandwidth relative
/// to the pinned copy. Below it, a line for each row that overlaps copies with folds gives its share of the
/// pinned copy's bandwidth.
[[nodiscard]] std::string print_transfers(const papers::Paper& paper, const papers::Experiment& experiment,
                                          const papers::MeasuredPaper* measured);

/// Returns a table of launch times, by events and by the host's clock. The host's time includes the launch
/// and the wait for the kernel.
[[nodiscard]] std::string print_timers(const papers::Experiment& experiment,
                                       const papers::MeasuredPaper* measured);

/// Returns a table of a contest's workloads, with the shares of the read ceiling that the paper states for
/// each device. If the contest is measured, the table also shows the plan of a run, the best peer, their
/// shares, and the plan's speed-up. The last row has geometric means.
[[nodiscard]] std::string print_contest(const papers::Paper& paper, const papers::Experiment& experiment,
                                        const papers::MeasuredPaper* measured);

}  // namespace segfold::cli
