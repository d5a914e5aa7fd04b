#include "runtime/support/processes/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/support/files/private_folder.h"

namespace segfold {

Turn::Turn(const std::filesystem::path& file)
{
    constexpr auto kLongestPause = std::chrono::microseconds(2000);
    auto pause = std::chrono::microseconds(100);
    if (file.empty())
        return;
    try {
        cache::require_private_folder(file.parent_path());
    } catch (const InputError&) {
        return;
    }
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    // Polls, because a thread that waits in flock() could not be stopped.
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        try {
            throw_if_stopped();
        } catch (const Stopped&) {
            ::close(descriptor_);
            throw;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, kLongestPause);
    }
}

Turn::~Turn()
{
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

}  // namespace segfold
