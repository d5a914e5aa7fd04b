#pragma once
// Replays a recorded space, so that searches need no GPU.
#include <set>
#include <string>
#include <vector>

#include "dsl/error.h"
#include "runtime/measure/tune/search.h"
#include "runtime/session/choice/record.h"

namespace segfold::tune {

/// Returns the space of the rows' points, in order, each point once.
inline SearchSpace space_of(const std::string& name, const std::vector<TuningRecord>& records)
{
    if (records.empty())
        throw InputError(name + ": has no rows; 'segfold tune OP --every' records a space");
    const auto& first = records.front();
    std::vector<Point> points;
    std::vector<std::size_t> starts;
    std::set<Point> seen;
    std::set<std::string> stages;
    for (const auto& record : records) {
        if (record.device != first.device || record.op_hash != first.op_hash ||
            record.problem != first.problem || record.shape.num_elements != first.shape.num_elements ||
            record.shape.num_segments != first.shape.num_segments)
            throw InputError(record.origin + ": is of another device, operator or shape than " +
                             first.origin + "; a recorded space has one of each");
        if (!seen.insert(record.point).second)
            continue;
        if (stages.insert(record.point.stage).second)
            starts.push_back(points.size());
        points.push_back(record.point);
    }
    return {std::move(points), std::move(starts)};
}

/// An evaluator that answers from recorded rows, which `tune --every` writes.
class Replay : public Evaluator {
public:
    /// Takes rows of one device, operator and shape. The first row of each point counts, and the first point
    /// of each stage is its start. Throws InputError, which begins with `name`, if there are no rows, or rows
    /// of several devices, operators or shapes.
    Replay(const std::string& name, const std::vector<TuningRecord>& records)
        : space_(space_of(name, records)), evaluations_(space_.size())
    {
        std::set<std::size_t> seen;
        for (const auto& record : records)
            if (const auto place = *space_.find(record.point); seen.insert(place).second)
                evaluations_[place] = record.measurement;
        for (const auto& measurement : evaluations_)
            if (measurement.outcome == MeasurementOutcome::correct &&
                (optimum_ == 0 || measurement.milliseconds < optimum_))
                optimum_ = measurement.milliseconds;
        if (optimum_ == 0)
            throw InputError(name + ": no row is correct");
    }

    [[nodiscard]] const SearchSpace& space() const { return space_; }
    /// The fastest correct time.
    [[nodiscard]] double optimum() const { return optimum_; }

    PlanMeasurement evaluate(const Point& point, double) override
    {
        return evaluations_[*space_.find(point)];
    }
    std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) override
    {
        std::vector<std::vector<double>> all;
        for (const auto& point : points)
            all.emplace_back(static_cast<std::size_t>(rounds), evaluate(point, 0).milliseconds);
        return all;
    }
    PlanMeasurement validate(const Point& point) override { return evaluate(point, 0); }

private:
    SearchSpace space_;
    std::vector<PlanMeasurement> evaluations_;  ///< by place
    double optimum_ = 0;
};

}  // namespace segfold::tune
