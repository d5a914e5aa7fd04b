#pragma once
// Plans measured in a process of their own, so that one that crashes or hangs ends that process alone.
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/tune/search.h"
#include "runtime/support/processes/coprocess.h"

namespace segfold::tune {

/// A program that serves an evaluator over a socket, as its standard input and output; started when first
/// needed, and again after it has ended.
class WorkerEvaluator : public Evaluator {
public:
    /// `seconds` is how long an answer may take, once the program has said that it is ready; getting ready
    /// may take ten minutes.
    WorkerEvaluator(std::vector<std::string> program, double seconds);
    ~WorkerEvaluator() override;
    WorkerEvaluator(const WorkerEvaluator&) = delete;
    WorkerEvaluator& operator=(const WorkerEvaluator&) = delete;

    /// The program's greeting when it is ready, a JSON object. Throws DeviceError or InputError with the
    /// program's own message if it cannot start.
    [[nodiscard]] const std::string& greeting();

    Evaluation evaluate(const Point& point, double best) override;
    void expect(std::span<const Point> points) override;
    std::vector<std::vector<double>> rank(std::span<const Point> points, int rounds) override;
    Evaluation validate(const Point& point) override;

    /// How often the program has been started.
    [[nodiscard]] int starts() const { return starts_; }

private:
    void start();
    /// Ends the running program; says how it ended.
    std::string stop();
    /// Sends a line and waits for the answer; a failure becomes an outcome.
    Evaluation ask(const std::string& request, double seconds, std::string& answer);

    std::vector<std::string> program_;
    double seconds_;
    std::string greeting_;
    std::optional<Coprocess> process_;
    int starts_ = 0;
};

/// The other side: answers requests of `in`, a line each, until it ends. `write` takes whole lines.
///
/// `is_fit` is asked after each answer; if it says no, the program ends and is started anew.
void serve(Evaluator& evaluator, const std::string& greeting, std::istream& in,
           const std::function<void(std::string_view)>& write, const std::function<bool()>& is_fit);

/// The line by which a worker says that it cannot start.
std::string refusal_line(std::string_view message, int exit_code);

}  // namespace segfold::tune
