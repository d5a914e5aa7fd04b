#pragma once
// The numbers of a paper's rows, published and measured, as marks of charts in one unit.
#include <optional>
#include <string>
#include <vector>

#include "runtime/papers/chart.h"
#include "runtime/papers/files.h"

namespace segfold::papers {

using Experiments = std::vector<const Experiment*>;

/// The quantity of a chart's values.
struct Quantity {
    std::string metric, unit;
};

/// What the source states, and times where that leaves out what was measured; each has a chart of its own.
[[nodiscard]] std::vector<Quantity> quantities_of(const Paper& paper, const Experiments& experiments,
                                                  const MeasuredPaper* measured);

/// What the source states for a row on one device, in the unit of `quantity`; nothing where it states none.
[[nodiscard]] std::optional<Mark> published_mark(const Paper& paper, const Experiment& experiment,
                                                 const std::string& row, const std::string& device,
                                                 const Quantity& quantity);

/// What was measured of a row; nothing where there is no time, or the quantity cannot be had from it.
[[nodiscard]] std::optional<Mark> measured_mark(const MeasuredPaper* measured, const Experiment& experiment,
                                                const std::string& row, const Quantity& quantity);

/// The same by the host's clock, for experiments of transfers and timers.
[[nodiscard]] std::optional<Mark> host_clock_mark(const MeasuredPaper* measured, const Experiment& experiment,
                                                  const std::string& row, const Quantity& quantity);

}  // namespace segfold::papers
