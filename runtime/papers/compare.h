#pragma once
// Finds the measurements of a paper's rows, and compares published with measured steps between rows.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/papers/files.h"

namespace segfold::papers {

/// Returns the measurement of a row; null if there is none.
[[nodiscard]] const bench::Entry* find_entry(const MeasuredPaper* measured, const Experiment& experiment,
                                             const std::string& row);

/// Returns the measurement of the best peer on a contest's row; null if there is none.
[[nodiscard]] const bench::Entry* find_peer(const MeasuredPaper* measured, const Experiment& experiment,
                                            const std::string& row);

/// Returns the measurement of the CPU's row; null if there is no such row or no measurement.
[[nodiscard]] const bench::Entry* find_host(const Experiment& experiment, const MeasuredPaper* measured);

/// Returns the measurement of the plain copy of pinned memory; null if there is none. The copy goes to the
/// host if `to_host` is true, else to the GPU.
[[nodiscard]] const bench::Entry* find_pinned(const Experiment& experiment, const MeasuredPaper* measured,
                                              bool to_host);

/// True if the entry has a time.
[[nodiscard]] bool is_timed(const bench::Entry* entry);

/// True if the source states the metric for a row of the experiment.
[[nodiscard]] bool publishes(const Paper& paper, const Experiment& experiment, std::string_view metric);

/// Returns the time of `before` divided by the time of `entry`; nothing if one is missing.
[[nodiscard]] std::optional<double> gain(const bench::Entry* before, const bench::Entry* entry);

/// Returns the rate of `entry` divided by the rate of `whole`; nothing if one is missing.
[[nodiscard]] std::optional<double> rate_share(const bench::Entry* entry, const bench::Entry* whole);

/// Two neighbouring rows of a ladder whose order of speed differs between publication and measurement.
struct Reversal {
    std::string before, row;
    /// Time of `before` divided by the time of `row`: `then` as published, `now` as measured.
    double then = 0, now = 0;
};

/// Returns the steps of an experiment that were faster when published and are slower now, or the reverse.
/// Omits steps from or to the CPU.
[[nodiscard]] std::vector<Reversal> reversals(const Paper& paper, const Experiment& experiment,
                                              const MeasuredPaper* measured);

}  // namespace segfold::papers
