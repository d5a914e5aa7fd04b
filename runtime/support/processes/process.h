#pragma once
// Starts other programs without a shell.
#include <spawn.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// Settings with which a program starts: its descriptors and its process group.
class SpawnActions {
public:
    SpawnActions();
    ~SpawnActions();
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;

    /// Passes this process's descriptor `ours` to the program, which gets it as `descriptor`.
    void give(int ours, int descriptor);
    /// Opens a file in the new program as its descriptor `descriptor`.
    void open(const char* path, int flags, int descriptor);
    /// Makes the program lead a process group of its own.
    void lead_group();

private:
    friend pid_t spawn(const std::vector<std::string>& arguments, const SpawnActions& actions);

    posix_spawn_file_actions_t files_;
    posix_spawnattr_t attributes_;
};

/// Starts the program `arguments[0]`. The caller must wait for its end. Throws DeviceError if the start
/// fails.
[[nodiscard]] pid_t spawn(const std::vector<std::string>& arguments, const SpawnActions& actions);

/// Exit status and output of a program.
struct ProcessResult {
    int status = 0;      ///< exit status; 128 + signal number if a signal ended the program
    std::string output;  ///< standard output and standard error, interleaved
};

/// Returns the path of an executable `program`; nothing if there is none. Searches the folders of `PATH`. A
/// name with a slash is taken as a path.
std::optional<std::string> find_program(std::string_view program);

/// Runs the program `arguments[0]` and waits for its end. Throws DeviceError if the start fails.
ProcessResult run_process(const std::vector<std::string>& arguments);

/// Runs a program that may take long, and waits for its end. If this thread's WorkStopper is stopped during
/// this time, ends the program and throws DeviceError.
ProcessResult run_stoppable(const std::vector<std::string>& arguments);

}  // namespace segfold
