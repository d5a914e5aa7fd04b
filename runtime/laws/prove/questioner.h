#pragma once
// Asks Z3 questions within a time budget, and writes them to files on request.
#include <chrono>
#include <filesystem>

#include "runtime/laws/prove/solver.h"

namespace segfold::prove {

/// A solver with one time limit for all of its questions together.
class Questioner {
public:
    /// Writes each question to the file PREFIX.NAME.smt2 in `folder`. Writes none if `folder` is empty.
    Questioner(Solver& solver, double seconds, std::filesystem::path folder, std::string prefix);

    Answer ask(const std::string& name, const std::string& question, double most_seconds,
               bool tells_core = false);
    bool begin(const std::string& name, const std::string& declarations, double most_seconds);
    Answer go_on(const std::string& question, double most_seconds);

    [[nodiscard]] double seconds_left() const;
    /// Processor time of all answers so far, in seconds.
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
