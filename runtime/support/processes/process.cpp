#include "runtime/support/processes/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "dsl/error.h"
#include "runtime/support/processes/child.h"
#include "runtime/support/processes/work_stopper.h"

extern char** environ;

namespace segfold {
namespace {

std::string read_to_end(int descriptor)
{
    std::string text;
    std::array<char, 4096> part;
    for (;;) {
        const ssize_t count = ::read(descriptor, part.data(), part.size());
        if (count > 0)
            text.append(part.data(), static_cast<std::size_t>(count));
        else if (count == 0 || errno != EINTR)
            return text;
    }
}

[[noreturn]] void throw_stopped(const std::string& program)
{
    throw DeviceError(program + " was ended, because the call that it ran for was interrupted; call again");
}

ProcessResult run(const std::vector<std::string>& arguments, WorkStopper* stopper)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw DeviceError("no pipe for " + arguments[0] + ": " + std::strerror(errno));
    SpawnActions actions;
    actions.open("/dev/null", O_RDONLY, STDIN_FILENO);
    actions.give(ends[1], STDOUT_FILENO);
    actions.give(ends[1], STDERR_FILENO);
    if (stopper != nullptr)
        actions.lead_group();
    pid_t child = 0;
    try {
        const auto start = [&] { return spawn(arguments, actions); };
        child = stopper != nullptr ? stopper->start(start) : start();
        if (child == 0)
            throw_stopped(arguments[0]);
    } catch (...) {
        close(ends[0]);
        close(ends[1]);
        throw;
    }
    close(ends[1]);
    const Child ends_with_us(child);
    ProcessResult result;
    result.output = read_to_end(ends[0]);
    close(ends[0]);
    if (stopper != nullptr) {
        siginfo_t ignored;
        while (waitid(P_PID, static_cast<id_t>(child), &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) {}
        stopper->forget(child);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (stopper != nullptr && WIFSIGNALED(status) && stopper->is_stopped())
        throw_stopped(arguments[0]);
    return result;
}

}  // namespace

std::optional<std::string> find_program(std::string_view program)
{
    const auto usable = [](const std::string& path) { return access(path.c_str(), X_OK) == 0; };
    if (program.find('/') != std::string_view::npos)
        return usable(std::string(program)) ? std::optional(std::string(program)) : std::nullopt;
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
    while (!rest.empty() && !program.empty()) {
        const std::size_t colon = rest.find(':');
        const std::string candidate = std::string(rest.substr(0, colon)) + "/" + std::string(program);
        if (usable(candidate))
            return candidate;
        rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
    return std::nullopt;
}

SpawnActions::SpawnActions()
{
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
}

SpawnActions::~SpawnActions()
{
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
}

void SpawnActions::give(int ours, int descriptor)
{
    posix_spawn_file_actions_adddup2(&files_, ours, descriptor);
}

void SpawnActions::open(const char* path, int flags, int descriptor)
{
    posix_spawn_file_actions_addopen(&files_, descriptor, path, flags, 0);
}

void SpawnActions::lead_group()
{
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
}

pid_t spawn(const std::vector<std::string>& arguments, const SpawnActions& actions)
{
    std::vector<char*> words;
    for (const std::string& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    pid_t process = 0;
    const int error = posix_spawn(&process, arguments[0].c_str(), &actions.files_, &actions.attributes_,
                                  words.data(), environ);
    if (error != 0)
        throw DeviceError(arguments[0] + " cannot be started: " + std::strerror(error));
    return process;
}

ProcessResult run_process(const std::vector<std::string>& arguments) { return run(arguments, nullptr); }

ProcessResult run_stoppable(const std::vector<std::string>& arguments)
{
    const auto stopper = WorkStopper::here();
    return run(arguments, stopper.get());
}

}  // namespace segfold
