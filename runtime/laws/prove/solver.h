#pragma once
// Runs Z3 in a child process.
#include <cstdint>
#include <optional>
#include <string>

namespace segfold::prove {

/// Z3's answer to a question.
struct Answer {
    enum class Kind : std::uint8_t { sat, unsat, unknown };
    Kind kind = Kind::unknown;
    std::string reason;  ///< reason for `unknown`: "no answer in 2 s", "Z3 gave up (incomplete)", ...
    std::string rest;    ///< text after the verdict: values, or the assumptions that a proof used
    double seconds = 0;  ///< processor time of the child
};

/// Largest ratio of a question's wall-clock time to its time limit. The limit is in processor time, and a
/// child on a busy machine gets only part of a processor.
inline constexpr double kMostPatience = 4;

/// Sends questions in SMT-LIB 2 to Z3, which runs in a child process with limited memory and time.
///
/// A child that does not answer in time is killed, and the next question starts another one. Not safe for use
/// by several threads at once.
///
/// The child opens the system's `libz3.so.4` or `libz3.so`. SEGFOLD_Z3 names another file, or is `off` to
/// disable Z3.
class Solver {
public:
    Solver();
    ~Solver();
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;

    /// Starts the child. Returns an empty text if Z3 is available, else the reason why it is not.
    [[nodiscard]] std::string unavailable();
    /// Z3's version, such as "Z3 4.8.12"; empty if there is no Z3.
    [[nodiscard]] const std::string& version() const { return version_; }

    /// Asks a question that does not depend on earlier ones. `seconds` is its time limit. If `tells_core` is
    /// true, the question may contain (get-unsat-core), which slows Z3 down.
    Answer ask(const std::string& question, double seconds, bool tells_core = false);

    /// Asks a question that builds on everything sent since the last ask() or begin().
    Answer go_on(const std::string& question, double seconds);
    /// Sends declarations for later go_on() calls. The answer says whether they can be satisfied.
    Answer begin(const std::string& declarations, double seconds);

private:
    bool start();
    void stop();
    [[nodiscard]] bool has_ended() const;
    Answer exchange(char how, const std::string& question, double seconds);
    bool put(char how, const std::string& question, double seconds, Answer& answer);
    [[nodiscard]] double processor_seconds() const;
    bool send(const std::string& message);
    std::optional<std::string> receive(double seconds);

    std::string version_, failure_;
    int child_ = 0;  ///< process id; 0 without a child
    int channel_ = -1;
};

}  // namespace segfold::prove
