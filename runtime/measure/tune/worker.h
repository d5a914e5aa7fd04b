#pragma once
// Measures plans in a separate process, so that a crash or hang of a plan ends only that process.
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/support/processes/coprocess.h"

namespace segfold::tune {

/// Makes another program measure plans, with requests on its standard input and answers on its standard
/// output. Starts the program when it is first needed, and again after it has ended.
class WorkerEvaluator : public Evaluator {
public:
    /// `program` is the command line. `seconds` limits the time for an answer after the program has reported
    /// that it is ready. It has ten minutes to become ready.
    WorkerEvaluator(std::vector<std::string> program, double seconds);
    ~WorkerEvaluator() override;
    WorkerEvaluator(const WorkerEvaluator&) = delete;
    WorkerEvaluator& operator=(const WorkerEvaluator&) = delete;

    /// Returns the JSON object that the program prints when ready. Throws DeviceError or InputError, with the
    /// program's message, if it cannot start.
    [[nodiscard]] const std::string& greeting();

    PlanMeasurement evaluate(const Point& point, double best) override;
    void expect(std::span<const Point> points) override;
    std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) override;
    PlanMeasurement validate(const Point& point) override;

    /// Returns how often the program has been started.
    [[nodiscard]] int starts() const { return starts_; }

private:
    void start();
    /// Ends the running program. Returns a text that says how it ended.
    std::string stop();
    /// Sends `request` as a line and waits for `answer`. If this fails, returns a measurement with the
    /// failure as its outcome.
    PlanMeasurement ask(const std::string& request, double seconds, std::string& answer);

    std::vector<std::string> program_;
    double seconds_;
    std::string greeting_;
    std::optional<Coprocess> process_;
    int starts_ = 0;
};

/// Serves a WorkerEvaluator. Answers the requests in `in`, one per line, until end of file. Calls `write`
/// with whole lines.
///
/// Calls `is_fit` after each request. If this returns false, the answer says that the program must be
/// restarted.
void serve(Evaluator& evaluator, const std::string& greeting, std::istream& in,
           const std::function<void(std::string_view)>& write, const std::function<bool()>& is_fit);

/// Returns the line with which a worker reports that it cannot start.
std::string refusal_line(std::string_view message, int exit_code);

}  // namespace segfold::tune
