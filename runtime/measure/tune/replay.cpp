#include "runtime/measure/tune/replay.h"

#include <set>

#include "dsl/error.h"

namespace segfold::tune {
namespace {

/// Returns the points of the records in order, each once.
SearchSpace space_of(const std::string& name, const std::vector<Record>& records)
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

}  // namespace

Replay::Replay(const std::string& name, const std::vector<Record>& records)
    : space_(space_of(name, records)), evaluations_(space_.size())
{
    // The first record of a point counts, because it was screened as in a search.
    std::set<std::size_t> seen;
    for (const auto& record : records)
        if (const auto place = *space_.find(record.point); seen.insert(place).second)
            evaluations_[place] = record.evaluation;
    for (const auto& evaluation : evaluations_)
        if (evaluation.outcome == Outcome::correct && (optimum_ == 0 || evaluation.milliseconds < optimum_))
            optimum_ = evaluation.milliseconds;
    if (optimum_ == 0)
        throw InputError(name + ": no row is correct");
}

Evaluation Replay::evaluate(const Point& point, double)
{
    const auto place = space_.find(point);
    if (!place)
        throw InternalError("a recorded space has no " + print(point));
    return evaluations_[*place];
}

std::vector<std::vector<double>> Replay::rank(std::span<const Point> points, int rounds)
{
    std::vector<std::vector<double>> all;
    for (const auto& point : points)
        all.emplace_back(static_cast<std::size_t>(rounds), evaluate(point, 0).milliseconds);
    return all;
}

Evaluation Replay::validate(const Point& point) { return evaluate(point, 0); }

}  // namespace segfold::tune
