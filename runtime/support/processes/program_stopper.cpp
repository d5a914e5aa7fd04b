#include "runtime/support/processes/program_stopper.h"

#include <csignal>
#include <utility>

namespace segfold {
namespace {

thread_local std::shared_ptr<ProgramStopper> stopper_here;

}  // namespace

ProgramStopper::Here::Here(std::shared_ptr<ProgramStopper> stopper)
    : outer_(std::exchange(stopper_here, std::move(stopper)))
{}

ProgramStopper::Here::~Here() { stopper_here = std::move(outer_); }

std::shared_ptr<ProgramStopper> ProgramStopper::here() { return stopper_here; }

void ProgramStopper::stop()
{
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    for (const auto leader : leaders_)
        kill(-leader, SIGKILL);  // a compiler's driver leaves the compiler itself running
}

pid_t ProgramStopper::start(const std::function<pid_t()>& spawn)
{
    const std::lock_guard lock(mutex_);
    if (is_stopped_)
        return 0;
    leaders_.push_back(spawn());
    return leaders_.back();
}

void ProgramStopper::forget(pid_t leader)
{
    const std::lock_guard lock(mutex_);
    std::erase(leaders_, leader);
}

bool ProgramStopper::is_stopped()
{
    const std::lock_guard lock(mutex_);
    return is_stopped_;
}

}  // namespace segfold
