#include "runtime/support/files/leftovers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "dsl/error.h"
#include "runtime/support/processes/child.h"

namespace segfold {
namespace {

namespace fs = std::filesystem;

enum class State : std::uint8_t { is_free, is_written, is_known, is_removed };

/// A path in fixed memory, readable by a signal handler.
struct Place {
    std::atomic<State> state = State::is_free;
    std::array<char, PATH_MAX> path;
};
constexpr int kMostPlaces = 64;
std::array<Place, kMostPlaces> places;
std::array<std::atomic<pid_t>, kMostPlaces> children;

/// A directory entry as the system call getdents64 returns it.
struct DirectoryEntry {
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[1];
};

/// Removes the files of a folder. Avoids readdir(), because a signal handler must not allocate memory.
void remove_files(int folder)
{
    alignas(DirectoryEntry) std::array<char, 1024> entries;
    for (;;) {
        const long bytes = syscall(SYS_getdents64, folder, entries.data(), entries.size());
        if (bytes <= 0)
            return;
        for (long at = 0; at < bytes;) {
            const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries.data() + at);
            unlinkat(folder, entry->name, 0);
            at += entry->length;
        }
    }
}

void remove_leftover(const char* path)
{
    if (unlink(path) == 0)
        return;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    remove_files(folder);
    close(folder);
    rmdir(path);
}

void on_end(int signal)
{
    for (auto& child : children)
        if (const pid_t process = child.exchange(0); process != 0)
            kill(process, signal);
    for (auto& place : places) {
        auto known = State::is_known;
        if (place.state.compare_exchange_strong(known, State::is_removed))
            remove_leftover(place.path.data());
    }
    // SA_RESETHAND restored the default action, so this ends the process with the signal's own status.
    raise(signal);
}

}  // namespace

Leftover::Leftover(const std::string& path) : place_(-1)
{
    // Stores an absolute path, because the process may have changed its folder when a signal comes.
    std::error_code ignored;
    const std::string absolute = fs::absolute(path, ignored).string();
    if (absolute.size() >= PATH_MAX)
        return;
    for (int i = 0; i < kMostPlaces; ++i) {
        auto& place = places[static_cast<std::size_t>(i)];
        auto free = State::is_free;
        if (!place.state.compare_exchange_strong(free, State::is_written))
            continue;
        std::memcpy(place.path.data(), absolute.c_str(), absolute.size() + 1);
        place.state = State::is_known;
        place_ = i;
        return;
    }
}

Leftover::~Leftover()
{
    auto known = State::is_known;
    if (place_ >= 0)
        places[static_cast<std::size_t>(place_)].state.compare_exchange_strong(known, State::is_free);
}

Child::Child(pid_t process)
{
    for (int i = 0; i < kMostPlaces; ++i) {
        pid_t free = 0;
        if (children[static_cast<std::size_t>(i)].compare_exchange_strong(free, process)) {
            place_ = i;
            return;
        }
    }
}

Child::~Child()
{
    if (place_ >= 0)
        children[static_cast<std::size_t>(place_)] = 0;
}

void remove_leftovers_at_signals()
{
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before = {};
        sigaction(signal, nullptr, &before);
        if (before.sa_handler == SIG_IGN)
            continue;
        struct sigaction action = {};
        action.sa_handler = on_end;
        action.sa_flags = SA_RESETHAND | SA_ONSTACK;  // SA_ONSTACK, because a fiber's stack is small
        sigaction(signal, &action, nullptr);
    }
}

fs::path temporary_folder()
{
    const char* variable = std::getenv("TMPDIR");
    const std::string folder = variable == nullptr || *variable == '\0' ? "/tmp" : variable;
    std::error_code error;
    if (!fs::is_directory(folder, error))
        throw InputError(
            fmt::format("TMPDIR is '{}', which is no folder; set it to one that can be written, "
                        "such as /tmp",
                        folder));
    return folder;
}

ScratchFolder::ScratchFolder(const std::string& stem)
    : path_([&] {
          std::string pattern = (temporary_folder() / (stem + "-XXXXXX")).string();
          if (mkdtemp(pattern.data()) == nullptr)
              throw InputError(
                  fmt::format("{} cannot be made: {}; set TMPDIR to a folder that can be written", pattern,
                              std::generic_category().message(errno)));
          return fs::path(pattern);
      }()),
      leftover_(path_.string())
{}

ScratchFolder::~ScratchFolder()
{
    std::error_code ignored;
    if (!is_kept_)
        fs::remove_all(path_, ignored);
}

}  // namespace segfold
