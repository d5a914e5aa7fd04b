#pragma once
// Z3 in a process of its own.
#include <cstdint>
#include <optional>
#include <string>

namespace segfold::prove {

/// The answer to a question.
struct Answer {
    enum class Kind : std::uint8_t { sat, unsat, unknown };
    Kind kind = Kind::unknown;
    std::string reason;  ///< of unknown: "no answer in 2 s", "Z3 gave up (incomplete)", ...
    std::string rest;    ///< text after the verdict: values, a core
    double seconds = 0;  ///< of the processor, that Z3 had
};

/// A limit is one of the processor's time where others use it too: a question ends after so many times its
/// limit on the clock.
inline constexpr double kMostPatience = 4;

/// Puts questions in SMT-LIB 2 to Z3, which runs in a child process under limits of memory and time. A child
/// that does not answer in time is killed, and the next question starts another. Serves one thread at a time.
///
/// Z3 is `libz3.so.4` or `libz3.so` of the system, opened by the child at run time. SEGFOLD_Z3 names another
/// file; `off` means none.
class Solver {
public:
    Solver();
    ~Solver();
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;

    /// Why there is no Z3; "" if there is. Starts the child.
    [[nodiscard]] std::string unavailable();
    /// "Z3 4.8.12"; "" without one.
    [[nodiscard]] const std::string& version() const { return version_; }

    /// Asks a question that knows nothing of earlier ones. The first line of the answer is the verdict. With
    /// `tells_core`, (get-unsat-core) has an answer; other questions are slower then.
    Answer ask(const std::string& question, double seconds, bool tells_core = false);

    /// Adds statements or a question to those since the last ask() or begin().
    Answer go_on(const std::string& question, double seconds);
    /// Declarations that later go_on() build on, and whether they can be met.
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
