#pragma once
// Measures times of segmented folds relative to unsegmented ones, taken in turn in one run.
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

/// The cases to measure, and the repeats of each.
struct TimeRequest {
    std::vector<NamedOperator> ops;
    std::vector<const Stage*> stages;
    const Catalogue& catalogue;
    std::vector<Layout> layouts;  ///< generated layouts; `whole` is always added
    std::int64_t num_elements = 0;
    std::uint64_t seed = 7;
    MakeArrays make_arrays;
    int rounds = 5;   ///< number of rounds; each allocates its own memory
    int samples = 7;  ///< counted samples of a round
    int dropped = 1;  ///< uncounted samples before those of a round
    /// The cut-off: a stage is left out if it takes longer than this many reads of the data.
    double most_ratio = 20;
};

/// Measures cases on one back end, and keeps its compiled plans.
///
/// A stage over `whole` is compared with a plain read of the same bytes. Over another layout it is compared
/// with itself over `whole`. A stage that does not take `whole`, or folds it with a single thread and is
/// hopeless, is compared with the stage that a run would take for `whole`.
///
/// Cases take turns (A B C A B C), and the first samples are dropped. Each round allocates everything anew,
/// so the measured noise includes the effect of memory addresses.
class TimeBench {
public:
    /// `backend` must outlive this object. Throws DeviceError if the device fails or the back end cannot be
    /// timed.
    TimeBench(Backend& backend, TimeRequest request);
    ~TimeBench();

    /// Measures all cases. Calls `progress` with the operator and layout before measuring them.
    [[nodiscard]] std::vector<TimeCase> measure(const std::function<void(const std::string&)>& progress);
    /// Measures one case again. Returns nothing if it is over the cut-off.
    [[nodiscard]] Rounds measure(const TimeCase& one);
    /// Measures a case over the cut-off with few repetitions, relative to `TimeCase::against`. Returns
    /// nothing if it cannot be measured, or if its longest segment alone would take half a minute.
    [[nodiscard]] Rounds measure_slow(const TimeCase& one);
    [[nodiscard]] TimingFacts facts() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace segfold::regress
