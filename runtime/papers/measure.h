#pragma once
// Runs the experiments of a paper on a GPU, each according to its kind.
#include <functional>
#include <string>

#include "codegen/catalogue.h"
#include "runtime/measure/bench/ladder.h"
#include "runtime/papers/files.h"
#include "runtime/session/session.h"

namespace segfold::papers {

/// Called with one line that names the next measurement.
using Show = std::function<void(const std::string& line)>;

/// Measures every row of an experiment `repeats` times, or fewer times if that takes too long.
///
/// A row that fails or has wrong results becomes an entry with the error. Throws DeviceError if the data do
/// not fit into the GPU's memory. Throws InputError or SpecError if the experiment names something that does
/// not exist.
[[nodiscard]] MeasuredExperiment measure(bench::Bench& bench, const Experiment& experiment, int repeats,
                                         const Catalogue& catalogue, const Show& show);

/// Measures the rows of a contest with the session's back end, which `bench` must measure. Throws the same
/// errors as bench_operator().
[[nodiscard]] MeasuredExperiment measure_contest(Session& session, bench::Bench& bench,
                                                 const Experiment& experiment, int repeats, const Show& show);

}  // namespace segfold::papers
