#pragma once
// Starting other programs without a shell.
#include <spawn.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// What a program begins with that is not this process's own.
class SpawnActions {
public:
    SpawnActions();
    ~SpawnActions();
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;

    /// Its `descriptor` is this process's `ours`.
    void give(int ours, int descriptor);
    /// Its `descriptor` is a file.
    void open(const char* path, int flags, int descriptor);
    /// It leads a process group of its own.
    void lead_group();

private:
    friend pid_t spawn(const std::vector<std::string>& arguments, const SpawnActions& actions);

    posix_spawn_file_actions_t files_;
    posix_spawnattr_t attributes_;
};

/// Starts `arguments[0]`, for the caller to wait for. Throws DeviceError when it cannot be started.
[[nodiscard]] pid_t spawn(const std::vector<std::string>& arguments, const SpawnActions& actions);

/// What a program that ran has left.
struct ProcessResult {
    int status = 0;      ///< exit status; 128 + number when a signal ended it
    std::string output;  ///< standard output and standard error, interleaved
};

/// The file that `PATH` gives for `program`, or nothing. A name with a slash is taken as it is.
std::optional<std::string> find_program(std::string_view program);

/// Runs `arguments[0]` and waits for its end. Throws DeviceError when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments);

/// The same of a program that may run for long. Where this thread has a WorkStopper, that ends it, and
/// DeviceError is thrown.
ProcessResult run_stoppable(const std::vector<std::string>& arguments);

}  // namespace segfold
