#pragma once
// The tables of a paper's probes, transfers and timers.
#include <string>

#include "runtime/papers/files.h"

namespace segfold::cli {

/// Time and bandwidth of each row, its bandwidth over that of the first row, published (`efficiency`) and
/// measured, and the registers, shared and local bytes that it takes.
[[nodiscard]] std::string print_probes(const papers::Paper& paper, const papers::Experiment& experiment,
                                       const papers::MeasuredPaper* measured);

/// Time by events and by the host's clock, bandwidth, and the share of the pinned copy's; then that share of
/// the rows that overlap copies with folds, in a line each.
[[nodiscard]] std::string print_transfers(const papers::Paper& paper, const papers::Experiment& experiment,
                                          const papers::MeasuredPaper* measured);

/// Times of one launch by both clocks; the host's includes the launch and the wait for its end.
[[nodiscard]] std::string print_timers(const papers::Experiment& experiment,
                                       const papers::MeasuredPaper* measured);

}  // namespace segfold::cli
