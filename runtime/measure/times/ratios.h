#pragma once
// Measures times of segmented folds relative to unsegmented folds in the same run.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "dsl/layout.h"
#include "runtime/backends/backend.h"
#include "runtime/measure/times/static_costs.h"
#include "runtime/measure/times/uniform_arrays.h"
#include "runtime/measure/times/verdict.h"

namespace segfold::regress {

/// The cases to measure, and the number of repetitions.
struct TimeRequest {
    std::vector<NamedOperator> ops;
    std::vector<const Stage*> stages;
    const Catalogue& catalogue;
    std::vector<Layout> layouts;  ///< generated layouts; `whole` is always added
    std::int64_t num_elements = 0;
    std::uint64_t seed = 7;
    MakeArrays make_arrays;
    int rounds = 5;   ///< number of rounds; each allocates memory anew
    int samples = 7;  ///< number of samples per round
    int dropped = 1;  ///< number of discarded samples at the start of each round
    /// The cut-off: a stage is left out if it takes longer than reading the data this many times.
    double most_ratio = 20;
};

/// Measures cases on one back end, and keeps the compiled plans.
///
/// The time of a stage over `whole` is divided by the time of a plain read of the same bytes. Over any other
/// layout, it is divided by the stage's own time over `whole`. If the stage does not support `whole`, or
/// would be too slow there because a single thread folds it, the divisor is the time of the stage that a run
/// would take for `whole`.
///
/// Cases take turns (A B C A B C), and the first samples are discarded. Each round allocates all memory anew,
/// so the measured noise includes the effect of addresses.
class TimeBench {
public:
    /// `backend` must outlive this object. Throws DeviceError if the device fails or the back end cannot be
    /// timed.
    TimeBench(Backend& backend, TimeRequest request);
    ~TimeBench();

    /// Measures all cases. Calls `progress` with the operator and layout before it measures them.
    [[nodiscard]] std::vector<TimeCase> measure(const std::function<void(const std::string&)>& progress);
    /// Measures one case again. Returns nothing if it exceeds the cut-off.
    [[nodiscard]] Rounds measure(const TimeCase& one);
    /// Measures a case that exceeds the cut-off, with few repetitions, relative to `TimeCase::against`.
    /// Returns nothing if it cannot be measured, or if its longest segment alone would take half a minute.
    [[nodiscard]] Rounds measure_slow(const TimeCase& one);
    [[nodiscard]] TimingFacts facts() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace segfold::regress
