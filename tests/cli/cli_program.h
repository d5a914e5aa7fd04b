#pragma once
// Runs the built program like a user, and keeps its output.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "dsl/error.h"
#include "runtime/support/processes/process.h"
#include "tests/common/files.h"

namespace segfold::test {

/// The end of a run of the program. The exit code is 128 + N if signal N ended it.
struct ProgramResult {
    int exit_code = -1;
    std::string output;
    std::string errors;
};

/// A folder in which the program runs, so that files need no paths.
class ProgramFolder : public TemporaryFolder {
public:
    /// Runs `segfold ARGUMENTS...`. Standard output goes to `output_path`, if given.
    [[nodiscard]] ProgramResult run(std::vector<std::string> arguments,
                                    const std::string& output_path = "") const
    {
        const std::string output = output_path.empty() ? file(".output") : output_path;
        const std::string errors = file(".errors");
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                         O_WRONLY | O_CREAT | O_TRUNC, 0644);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                         O_WRONLY | O_CREAT | O_TRUNC, 0644);
        posix_spawn_file_actions_addchdir_np(&actions, file("").c_str());
        arguments.insert(arguments.begin(), SEGFOLD_PROGRAM);
        std::vector<char*> words;
        for (auto& argument : arguments)
            words.push_back(argument.data());
        words.push_back(nullptr);
        pid_t process = 0;
        const int error = posix_spawn(&process, SEGFOLD_PROGRAM, &actions, nullptr, words.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (error != 0)
            throw InternalError("the program cannot be started");
        int status = 0;
        waitpid(process, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                output_path.empty() ? read_text(output) : "", read_text(errors)};
    }
};

/// True if there is a C++ compiler, which simt needs.
inline bool has_compiler()
{
    return std::getenv("CXX") != nullptr || find_program("g++") || find_program("clang++");
}

}  // namespace segfold::test
