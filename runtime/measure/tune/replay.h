#pragma once
// A recorded space, searched again without the GPU that measured it.
#include <string>
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/session/choice/record.h"

namespace segfold::tune {

/// Answers from rows; `tune --every` writes them.
class Replay : public Evaluator {
public:
    /// Rows of one device, operator and shape; the first of each point counts. The first point of each stage
    /// in `records` is its start. Throws InputError, beginning with `name`, where rows are of several or
    /// there is none.
    Replay(const std::string& name, const std::vector<Record>& records);

    [[nodiscard]] const SearchSpace& space() const { return space_; }
    /// The fastest correct time.
    [[nodiscard]] double optimum() const { return optimum_; }

    Evaluation evaluate(const Point& point, double best) override;
    std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) override;
    Evaluation validate(const Point& point) override;

private:
    SearchSpace space_;
    std::vector<Evaluation> evaluations_;  ///< by place
    double optimum_ = 0;
};

}  // namespace segfold::tune
