#pragma once
// Starting other programs without a shell.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// What a program that ran has left.
struct ProcessResult {
    int status = 0;      ///< exit status; 128 + number when a signal ended it
    std::string output;  ///< standard output and standard error, interleaved
};

/// The file that `PATH` gives for `program`, or nothing. A name with a slash is taken as it is.
std::optional<std::string> find_program(std::string_view program);

/// Runs `arguments[0]` and waits for its end. Throws DeviceError when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments);

}  // namespace segfold
