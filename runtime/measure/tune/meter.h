#pragma once
// Measures plans in this process, on a back end.
#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/data/workload.h"
#include "runtime/measure/tune/search.h"

namespace segfold::tune {

/// Measures plans of one workload.
///
/// A plan is not run if no block of it fits on a multiprocessor or if it spills more than 256 bytes per
/// thread. It is abandoned if one run takes twice as long as the fastest plan. Screening makes five runs. If
/// the data would stay in the cache, the cache is emptied before each run.
class PlanMeter : public Evaluator {
public:
    /// All arguments must outlive the meter. Throws DeviceError if the device fails or the back end cannot be
    /// timed.
    PlanMeter(Backend& backend, const Problem& problem, const Workload& workload, const Catalogue& catalogue);
    ~PlanMeter() override;

    PlanMeasurement evaluate(const Point& point, double best) override;
    void expect(std::span<const Point> points) override;
    std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) override;
    PlanMeasurement validate(const Point& point) override;

    /// False if a plan has made the device refuse further work of this process.
    [[nodiscard]] bool is_fit() const;
    /// Returns the read ceiling in bytes per second.
    [[nodiscard]] double ceiling() const;
    [[nodiscard]] TimingFacts facts() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace segfold::tune
