#pragma once
// Asks questions within a budget of time, and keeps their texts on demand.
#include <chrono>
#include <filesystem>

#include "runtime/laws/prove/solver.h"

namespace segfold::prove {

/// A solver with a bound for all questions together.
class Questioner {
public:
    /// `folder` takes each question as a file NAME.smt2; empty: none is kept.
    Questioner(Solver& solver, double seconds, std::filesystem::path folder, std::string prefix);

    Answer ask(const std::string& name, const std::string& question, double most_seconds,
               bool tells_core = false);
    bool begin(const std::string& name, const std::string& declarations, double most_seconds);
    Answer go_on(const std::string& question, double most_seconds);

    [[nodiscard]] double seconds_left() const;
    /// Processor time of all answers.
    [[nodiscard]] double seconds_used() const { return used_; }

private:
    void keep(const std::string& name, const std::string& question) const;

    Solver& solver_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    double seconds_;
    double used_ = 0;
    std::filesystem::path folder_;
    std::string prefix_;
};

}  // namespace segfold::prove
