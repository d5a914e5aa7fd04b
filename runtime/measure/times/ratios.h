#pragma once
// Times of segmented folds over times of unsegmented ones, measured by turns in one run.
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

/// The cases to measure, and how thoroughly.
struct TimeRequest {
    std::vector<NamedOperator> ops;
    std::vector<const Stage*> stages;
    const Catalogue& catalogue;
    std::vector<Layout> layouts;  ///< beside the whole; generated ones
    std::int64_t num_elements = 0;
    std::uint64_t seed = 7;
    MakeArrays make_arrays;
    int rounds = 5;   ///< each with memory of its own
    int samples = 7;  ///< of each round
    int dropped = 1;  ///< before them
    double most_ratio =
        20;  ///< the cut-off: a stage that takes longer than so many reads of the data is left out
};

/// Measures cases on one back end; keeps what it compiled.
///
/// A stage over `whole` is held against a plain read of the same bytes; over any other layout against itself
/// over `whole`, or, where it takes no whole or is hopeless at it (a thread that folds everything), against
/// the stage that a run would take there. Runs go by turns (A B C A B C), the first ones are dropped, and
/// each round allocates everything anew, so that the noise includes the arrays' places in memory.
class TimeBench {
public:
    /// `backend` must outlive this object. Throws DeviceError, for a back end that is not timed too.
    TimeBench(Backend& backend, TimeRequest request);
    ~TimeBench();

    /// All cases; `progress` is told each case.
    [[nodiscard]] std::vector<TimeCase> measure(const std::function<void(const std::string&)>& progress);
    /// One of them again; none over the cut-off.
    [[nodiscard]] Rounds measure(const TimeCase& one);
    /// One of them over the cut-off, against what it says, in few repetitions. Empty where it cannot be
    /// measured, or where its longest segment alone would take half a minute.
    [[nodiscard]] Rounds measure_slow(const TimeCase& one);
    [[nodiscard]] TimingFacts facts() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace segfold::regress
