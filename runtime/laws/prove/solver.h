#pragma once
// Runs Z3 in a child process.
#include <cstdint>
#include <optional>
#include <string>

namespace segfold::prove {

/// Answer to a question.
struct Answer {
    enum class Kind : std::uint8_t { sat, unsat, unknown };
    Kind kind = Kind::unknown;
    std::string reason;  ///< reason for the kind unknown: "no answer in 2 s", "Z3 gave up (incomplete)", ...
    std::string rest;    ///< the text after the verdict: values or a core
    double seconds = 0;  ///< processor time that Z3 took
};

/// Largest ratio of a question's wall-clock time to its time limit. The limit is processor time, of which a
/// child on a shared processor gets only a part.
inline constexpr double kMostPatience = 4;

/// Sends questions in SMT-LIB 2 to Z3 in a child process with limits of memory and time.
///
/// A child that does not answer in time is killed, and the next question starts another child. For use by one
/// thread at a time.
///
/// Z3 is `libz3.so.4` or `libz3.so` of the system, opened by the child at run time. SEGFOLD_Z3 names another
/// file; `off` means none.
class Solver {
public:
    Solver();
    ~Solver();
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;

    /// Starts the child. Returns an empty text if Z3 is available, else the reason why it is not.
    [[nodiscard]] std::string unavailable();
    /// Version such as "Z3 4.8.12"; empty if there is no Z3.
    [[nodiscard]] const std::string& version() const { return version_; }

    /// Asks a question that does not depend on earlier ones. The first line of Z3's reply is the verdict.
    /// `tells_core` lets the question contain (get-unsat-core), which slows Z3 down.
    Answer ask(const std::string& question, double seconds, bool tells_core = false);

    /// Asks a question that builds on everything sent since the last ask() or begin().
    Answer go_on(const std::string& question, double seconds);
    /// Sends declarations for later go_on() calls. The answer tells whether they can be satisfied.
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
    int child_ = 0;  ///< a pid_t
    int channel_ = -1;
};

}  // namespace segfold::prove
