#pragma once
// Turns published and measured numbers of a paper's rows into chart marks with a common unit.
#include <optional>
#include <string>
#include <vector>

#include "runtime/measure/charts/chart.h"
#include "runtime/papers/files.h"

namespace segfold::papers {

using charts::Mark;
using Experiments = std::vector<const Experiment*>;

/// The quantity that a chart shows.
struct Quantity {
    std::string metric, unit;
};

/// Returns the quantities to draw, each in its own chart. The first quantity that the source states comes
/// first. Time follows if measurements cannot be expressed in that quantity.
[[nodiscard]] std::vector<Quantity> quantities_of(const Paper& paper, const Experiments& experiments,
                                                  const MeasuredPaper* measured);

/// Returns the source's number for a row on one device, in the unit of `quantity`; nothing if the source
/// states no such number.
[[nodiscard]] std::optional<Mark> published_mark(const Paper& paper, const Experiment& experiment,
                                                 const std::string& row, const std::string& device,
                                                 const Quantity& quantity);

/// Returns the measurement of a row in the unit of `quantity`. Returns nothing if the row has no time, or if
/// measurements cannot be expressed in `quantity`.
[[nodiscard]] std::optional<Mark> measured_mark(const MeasuredPaper* measured, const Experiment& experiment,
                                                const std::string& row, const Quantity& quantity);

/// Returns the time of a row by the host's clock; nothing if there is none. Only experiments with transfers
/// and timers record this time.
[[nodiscard]] std::optional<Mark> host_clock_mark(const MeasuredPaper* measured, const Experiment& experiment,
                                                  const std::string& row, const Quantity& quantity);

}  // namespace segfold::papers
