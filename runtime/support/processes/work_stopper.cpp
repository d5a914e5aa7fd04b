#include "runtime/support/processes/work_stopper.h"

#include <csignal>
#include <utility>

#include "dsl/stopped.h"

namespace segfold {
namespace {

thread_local std::shared_ptr<WorkStopper> stopper_here;

}  // namespace

WorkStopper::Here::Here(std::shared_ptr<WorkStopper> stopper)
    : outer_(std::exchange(stopper_here, std::move(stopper))),
      outer_flag_(exchange_stop_flag(stopper_here ? &stopper_here->is_stopped_ : nullptr))
{}

WorkStopper::Here::~Here()
{
    exchange_stop_flag(outer_flag_);
    stopper_here = std::move(outer_);
}

std::shared_ptr<WorkStopper> WorkStopper::here() { return stopper_here; }

void WorkStopper::stop()
{
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    for (const auto leader : leaders_)
        kill(-leader, SIGKILL);  // killing only a compiler's driver would leave the compiler running
}

pid_t WorkStopper::start(const std::function<pid_t()>& spawn)
{
    const std::lock_guard lock(mutex_);
    if (is_stopped_)
        return 0;
    leaders_.push_back(spawn());
    return leaders_.back();
}

void WorkStopper::forget(pid_t leader)
{
    const std::lock_guard lock(mutex_);
    std::erase(leaders_, leader);
}

}  // namespace segfold
