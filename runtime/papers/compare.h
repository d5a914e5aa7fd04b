#pragma once
// Measurements of a paper's rows, and the ratios between rows then and now.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/papers/files.h"

namespace segfold::papers {

/// The measurement of a row; null without one.
[[nodiscard]] const bench::Entry* find_entry(const MeasuredPaper* measured, const Experiment& experiment,
                                             const std::string& row);

/// The measurement of the CPU's row; null without one.
[[nodiscard]] const bench::Entry* find_host(const Experiment& experiment, const MeasuredPaper* measured);

/// The measurement of the plain copy of pinned memory in one direction; null without one.
[[nodiscard]] const bench::Entry* find_pinned(const Experiment& experiment, const MeasuredPaper* measured,
                                              bool to_host);

/// True where there is a time.
[[nodiscard]] bool is_timed(const bench::Entry* entry);

/// True where the source states the metric for a row of the experiment.
[[nodiscard]] bool publishes(const Paper& paper, const Experiment& experiment, std::string_view metric);

/// Time of `before` over that of `entry`; nothing if one is missing.
[[nodiscard]] std::optional<double> gain(const bench::Entry* before, const bench::Entry* entry);

/// The rate of `entry` over that of `whole`; nothing if one is missing.
[[nodiscard]] std::optional<double> rate_share(const bench::Entry* entry, const bench::Entry* whole);

/// A step from one rung to the next that went one way when it was published and goes the other way now.
struct Reversal {
    std::string before, row;
    double then = 0, now = 0;  ///< times as fast
};

/// The steps of an experiment that were forward when they were published and are not now, or the other way
/// round; steps from or to the CPU do not count.
[[nodiscard]] std::vector<Reversal> reversals(const Paper& paper, const Experiment& experiment,
                                              const MeasuredPaper* measured);

}  // namespace segfold::papers
