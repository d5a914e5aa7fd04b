#pragma once
// Measures plans in a separate process, so a plan that crashes or hangs ends only that process.
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/support/processes/coprocess.h"

namespace segfold::tune {

/// Lets another program measure plans, and talks to it over its standard input and output. Starts the program
/// when it is first needed, and again after it has ended.
class WorkerEvaluator : public Evaluator {
public:
    /// An answer may take `seconds` once the program has said that it is ready. Becoming ready may take ten
    /// minutes.
    WorkerEvaluator(std::vector<std::string> program, double seconds);
    ~WorkerEvaluator() override;
    WorkerEvaluator(const WorkerEvaluator&) = delete;
    WorkerEvaluator& operator=(const WorkerEvaluator&) = delete;

    /// Returns the JSON object with which the program describes itself when ready. Throws DeviceError or
    /// InputError with the program's own message if it cannot start.
    [[nodiscard]] const std::string& greeting();

    PlanMeasurement evaluate(const Point& point, double best) override;
    void expect(std::span<const Point> points) override;
    std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) override;
    PlanMeasurement validate(const Point& point) override;

    /// Returns the number of times that the program has been started.
    [[nodiscard]] int starts() const { return starts_; }

private:
    void start();
    /// Ends the running program and returns how it ended.
    std::string stop();
    /// Sends a line and waits for the answer. If this fails, returns a measurement with the failure as its
    /// outcome.
    PlanMeasurement ask(const std::string& request, double seconds, std::string& answer);

    std::vector<std::string> program_;
    double seconds_;
    std::string greeting_;
    std::optional<Coprocess> process_;
    int starts_ = 0;
};

/// Serves a WorkerEvaluator: answers the requests in `in`, one per line, until `in` ends. `write` is called
/// with whole lines.
///
/// After each answer it calls `is_fit`. If `is_fit` returns false, the answer also says that the program must
/// be started anew.
void serve(Evaluator& evaluator, const std::string& greeting, std::istream& in,
           const std::function<void(std::string_view)>& write, const std::function<bool()>& is_fit);

/// Returns the line with which a worker reports that it cannot start.
std::string refusal_line(std::string_view message, int exit_code);

}  // namespace segfold::tune
