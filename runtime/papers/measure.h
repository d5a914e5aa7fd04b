#pragma once
// Runs the experiments of a paper on a GPU, each kind in its own way.
#include <functional>
#include <string>

#include "codegen/catalogue.h"
#include "runtime/measure/bench/ladder.h"
#include "runtime/papers/files.h"

namespace segfold::papers {

/// Gets a line on each next measurement.
using Show = std::function<void(const std::string& line)>;

/// Measures every row of an experiment, `repeats` times where that does not take long.
///
/// A row that fails, or whose results are wrong, is an entry that says so. Throws DeviceError where the data
/// does not fit the GPU, InputError and SpecError where the experiment names what there is not.
[[nodiscard]] MeasuredExperiment measure(bench::Bench& bench, const Experiment& experiment, int repeats,
                                         const Catalogue& catalogue, const Show& show);

}  // namespace segfold::papers
