#include "runtime/support/processes/coprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "dsl/error.h"
#include "runtime/support/processes/process.h"

namespace segfold {

using Clock = std::chrono::steady_clock;

Coprocess::Coprocess(const std::vector<std::string>& arguments)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw DeviceError(fmt::format("no socket for {}: {}", arguments[0], std::strerror(errno)));
    SpawnActions actions;
    actions.give(ends[1], STDIN_FILENO);
    actions.give(ends[1], STDOUT_FILENO);
    actions.open("/dev/null", O_WRONLY, STDERR_FILENO);
    actions.lead_group();
    try {
        process_ = spawn(arguments, actions);
    } catch (...) {
        ::close(ends[0]);
        ::close(ends[1]);
        throw;
    }
    ::close(ends[1]);
    socket_ = ends[0];
    ends_with_us_.emplace(process_);
}

Coprocess::~Coprocess() { stop(); }

bool Coprocess::send(const std::string& text)
{
    for (std::size_t sent = 0; sent < text.size();) {
        const auto count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        sent += static_cast<std::size_t>(count);
    }
    return true;
}

Coprocess::Wait Coprocess::receive(std::string& line, double seconds)
{
    const auto end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    for (;;) {
        if (const auto at = buffer_.find('\n'); at != buffer_.npos) {
            line = buffer_.substr(0, at);
            buffer_.erase(0, at + 1);
            return Wait::answered;
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        if (left <= 0)
            return Wait::late;
        pollfd watched{socket_, POLLIN, 0};
        if (::poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) <= 0)
            continue;
        char bytes[4096];
        const auto count = ::recv(socket_, bytes, sizeof(bytes), 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return Wait::ended;
        buffer_.append(bytes, static_cast<std::size_t>(count));
    }
}

void Coprocess::kill()
{
    if (process_ >= 0)
        ::kill(process_, SIGKILL);
}

std::string Coprocess::stop()
{
    if (process_ < 0)
        return "did not run";
    ::close(socket_);
    // A program that closed its side is about to end. Waits for its exit status and discards further output.
    constexpr int kTries = 50;
    int status = 0;
    for (int i = 0; waitpid(process_, &status, WNOHANG) == 0; ++i) {
        if (i == kTries) {
            kill();
            while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {}
            break;
        }
        ::usleep(2000);
    }
    ends_with_us_.reset();
    process_ = -1;
    socket_ = -1;
    if (WIFSIGNALED(status))
        return fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace segfold
