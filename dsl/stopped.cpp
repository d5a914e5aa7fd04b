#include "dsl/stopped.h"

#include <utility>

namespace segfold {
namespace {

thread_local const std::atomic<bool>* flag_of_thread = nullptr;

}  // namespace

const char* Stopped::what() const noexcept { return "the work was stopped, as nobody waits for it any more"; }

const std::atomic<bool>* stop_flag() { return flag_of_thread; }

const std::atomic<bool>* exchange_stop_flag(const std::atomic<bool>* flag)
{
    return std::exchange(flag_of_thread, flag);
}

void throw_if_stopped()
{
    if (flag_of_thread != nullptr && flag_of_thread->load(std::memory_order_relaxed))
        throw Stopped();
}

}  // namespace segfold
