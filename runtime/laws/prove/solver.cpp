#include "runtime/laws/prove/solver.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/laws/prove/solver_program.h"
#include "runtime/support/processes/process.h"

namespace segfold::prove {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostMegabytes = 2048;
/// Limit on a child's processor time for all questions. It ends a child that outlives its parent.
constexpr int kMostProcessorSeconds = 3600;
constexpr double kStartSeconds = 5;
/// Z3 is told to stop at the time limit. A child that still runs this many seconds later is killed.
constexpr double kGraceSeconds = 0.25;
/// A question is repeated if the child got less than this share of the limit as processor time.
constexpr double kStarved = 0.8;
/// Seconds to wait again for a child that got no processor time.
constexpr double kStarvedSeconds = 0.05;
/// Seconds between two checks for a request to stop the work.
constexpr double kLookSeconds = 0.05;

constexpr const char* kLibraries[] = {"libz3.so.4", "libz3.so"};
constexpr const char* kHint = "install libz3-4 or libz3-dev, or name the library in SEGFOLD_Z3";

double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Writes the child's program to an anonymous file in memory. Returns its descriptor, which is closed on
/// exec, or -1 if the system has no memfd.
int program_in_memory()
{
    const int descriptor = memfd_create("segfold-solver", MFD_CLOEXEC);
    auto left = solver_program();
    while (descriptor >= 0 && !left.empty()) {
        const auto count = write(descriptor, left.data(), left.size());
        if (count <= 0) {
            close(descriptor);
            return -1;
        }
        left.remove_prefix(static_cast<std::size_t>(count));
    }
    return descriptor;
}

}  // namespace

Solver::Solver() = default;

Solver::~Solver() { stop(); }

void Solver::stop()
{
    if (child_ > 0) {
        kill(child_, SIGKILL);
        int status = 0;
        while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {}
    }
    if (channel_ >= 0)
        close(channel_);
    child_ = 0;
    channel_ = -1;
}

std::string Solver::unavailable()
{
    if (version_.empty() && failure_.empty())
        start();
    return version_.empty() ? failure_ : "";
}

bool Solver::start()
{
    stop();
    const char* named = std::getenv("SEGFOLD_Z3");
    const bool is_named = named != nullptr && *named != 0;
    if (is_named && std::strcmp(named, "off") == 0) {
        failure_ = "SEGFOLD_Z3 is off";
        return false;
    }
    std::vector<std::string> libraries(std::begin(kLibraries), std::end(kLibraries));
    if (is_named)
        libraries = {named};
    const int program = program_in_memory();
    if (program < 0) {
        failure_ = fmt::format("no program can be started from memory: {}", std::strerror(errno));
        return false;
    }
    for (const auto& library : libraries) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            failure_ = fmt::format("no channel to a solver: {}", std::strerror(errno));
            break;
        }
        channel_ = ends[0];
        SpawnActions actions;
        actions.give(ends[1], STDIN_FILENO);
        actions.open("/dev/null", O_WRONLY, STDOUT_FILENO);
        actions.open("/dev/null", O_WRONLY, STDERR_FILENO);
        try {
            child_ = spawn({fmt::format("/proc/self/fd/{}", program), library, std::to_string(kMostMegabytes),
                            std::to_string(kMostProcessorSeconds)},
                           actions);
        } catch (const DeviceError& error) {
            failure_ = fmt::format("no solver can be started: {}", error.what());
        }
        close(ends[1]);
        if (child_ <= 0) {
            stop();
            break;
        }
        const auto hello = receive(kStartSeconds);
        if (hello && hello->starts_with("Z3 ")) {
            version_ = *hello;
            failure_.clear();
            break;
        }
        failure_ = fmt::format("no Z3: {}; {}", hello ? *hello : "the solver ended at once", kHint);
        stop();
    }
    close(program);
    return channel_ >= 0;
}

/// True if the child has exited between questions.
bool Solver::has_ended() const
{
    pollfd side = {channel_, 0, 0};
    return channel_ >= 0 && poll(&side, 1, 0) > 0;
}

bool Solver::send(const std::string& message)
{
    const auto length = static_cast<std::uint32_t>(message.size());
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += message;
    for (std::size_t at = 0; at < bytes.size();) {
        const auto count = ::send(channel_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += static_cast<std::size_t>(count);
    }
    return true;
}

/// Returns the child's processor time in seconds.
double Solver::processor_seconds() const
{
    clockid_t clock{};
    timespec time{};
    if (child_ <= 0 || clock_getcpuclockid(child_, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Returns the child's next message; nothing if none comes in time or the child exits.
std::optional<std::string> Solver::receive(double seconds)
{
    const auto begin = Clock::now();
    const double had = processor_seconds();
    std::string bytes;
    for (;;) {
        throw_if_stopped();  // if it throws, the destructor kills the child
        std::uint32_t length = 0;
        if (bytes.size() >= sizeof length) {
            std::memcpy(&length, bytes.data(), sizeof length);
            if (bytes.size() >= sizeof length + length)
                return bytes.substr(sizeof length, length);
        }
        const double since = seconds_since(begin);
        double left = seconds - since;
        if (left <= 0) {
            if (processor_seconds() - had >= seconds || since >= kMostPatience * seconds)
                return std::nullopt;
            left = kStarvedSeconds;
        }
        pollfd waits = {channel_, POLLIN, 0};
        const int ready = poll(&waits, 1, static_cast<int>(std::min(left, kLookSeconds) * 1e3) + 1);
        if (ready < 0 && errno != EINTR)
            return std::nullopt;
        if (ready <= 0)
            continue;
        char part[65536];
        const auto count = recv(channel_, part, sizeof part, 0);
        if (count == 0 || (count < 0 && errno != EINTR))
            return std::nullopt;
        if (count > 0)
            bytes.append(part, static_cast<std::size_t>(count));
    }
}

Answer Solver::exchange(char how, const std::string& question, double seconds)
{
    Answer answer;
    if (seconds <= 0) {
        answer.reason = "no time was left";
        return answer;
    }
    if (has_ended())
        stop();
    if (channel_ < 0 && (how == 'g' || !start())) {
        answer.reason = failure_.empty() ? "the solver has ended" : failure_;
        return answer;
    }
    // Z3 measures its limit by the wall clock. If other processes use the processor, Z3 gets less processor
    // time than the limit, and the question is repeated.
    const auto begin = Clock::now();
    for (double allowed = seconds;;) {
        const double had_before = processor_seconds();
        answer.kind = Answer::Kind::unknown;
        const bool is_over = put(how, question, allowed, answer);
        const double had = channel_ < 0 ? allowed : processor_seconds() - had_before;
        answer.seconds += had;
        const double left = kMostPatience * seconds - seconds_since(begin);
        if (is_over || had >= kStarved * seconds || left <= allowed)
            return answer;
        allowed = std::min(left, seconds * std::min(kMostPatience, allowed / std::max(had, 1e-3)));
    }
}

/// Asks a question once. Returns false if the child got too little processor time, else true.
bool Solver::put(char how, const std::string& question, double seconds, Answer& answer)
{
    const auto begin = Clock::now();
    const auto late = fmt::format("no answer in {:.2g} s", std::max(seconds, 0.01));
    const auto message = fmt::format("{}(set-option :timeout {})\n{}", how,
                                     std::max(1, static_cast<int>(seconds * 1e3)), question);
    std::optional<std::string> reply;
    if (send(message))
        reply = receive(seconds + kGraceSeconds);
    if (!reply) {
        answer.reason =
            seconds_since(begin) >= seconds ? late : "the solver ended without an answer (memory?)";
        stop();
        return true;
    }
    const auto end = reply->find('\n');
    const auto verdict = reply->substr(0, end);
    answer.rest = end == std::string::npos ? "" : reply->substr(end + 1);
    if (verdict == "sat")
        answer.kind = Answer::Kind::sat;
    else if (verdict == "unsat")
        answer.kind = Answer::Kind::unsat;
    else if (verdict != "unknown" && verdict != "timeout")
        answer.reason = "Z3: " + (verdict.empty() ? std::string("no verdict") : verdict);
    else if (seconds_since(begin) < 0.9 * seconds)
        answer.reason = "Z3 gave up";
    else
        answer.reason = late;
    return answer.reason != late;
}

Answer Solver::ask(const std::string& question, double seconds, bool tells_core)
{
    return exchange(tells_core ? 'c' : 'f', question, seconds);
}

Answer Solver::go_on(const std::string& question, double seconds) { return exchange('g', question, seconds); }

Answer Solver::begin(const std::string& declarations, double seconds)
{
    return exchange('f', declarations + "(check-sat)\n", seconds);
}

}  // namespace segfold::prove
