#pragma once
// Searches a recorded space again, without the GPU that it was measured on.
#include <string>
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/session/choice/record.h"

namespace segfold::tune {

/// Answers from records that `tune --every` has written.
class Replay : public Evaluator {
public:
    /// The records must have one device, operator and shape. The first record of each point counts, and the
    /// first point of each stage is the stage's start. Throws InputError, which begins with `name`, if
    /// records are mixed or there are none.
    Replay(const std::string& name, const std::vector<Record>& records);

    [[nodiscard]] const SearchSpace& space() const { return space_; }
    /// Time of the fastest correct point.
    [[nodiscard]] double optimum() const { return optimum_; }

    Evaluation evaluate(const Point& point, double best) override;
    std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) override;
    Evaluation validate(const Point& point) override;

private:
    SearchSpace space_;
    std::vector<Evaluation> evaluations_;  ///< by index of the point
    double optimum_ = 0;
};

}  // namespace segfold::tune
