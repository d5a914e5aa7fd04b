#include "runtime/python/bind/interrupt.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "runtime/support/processes/work_stopper.h"

namespace segfold::python {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(50);

struct Job {
    std::function<void()> work;
    std::shared_ptr<WorkStopper> stopper = std::make_shared<WorkStopper>();
    /// The arrays of a caller that was interrupted. They are freed while the interpreter's lock is held.
    std::vector<ArrayIn> arrays;
    std::exception_ptr failure;
    bool is_done = false;
    std::mutex mutex;
    std::condition_variable done;
};

unsigned long main_thread = 0;

/// Jobs whose callers were interrupted. Protected by the interpreter's lock.
std::vector<std::shared_ptr<Job>>& abandoned()
{
    static auto* jobs = new std::vector<std::shared_ptr<Job>>;
    return *jobs;
}

/// If the job is done, frees its arrays and returns true. Other members may be freed by the job's own thread.
bool is_swept(Job& job)
{
    const std::lock_guard lock(job.mutex);
    if (job.is_done)
        job.arrays.clear();
    return job.is_done;
}

/// Waits for the job, at most kPatience. Returns true if it is done. Must be called without the interpreter's
/// lock.
bool wait_a_little(Job& job)
{
    std::unique_lock lock(job.mutex);
    return job.done.wait_for(lock, kPatience, [&] { return job.is_done; });
}

}  // namespace

void note_main_thread()
{
    main_thread =
        nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
}

void run_interruptible(std::function<void()> work, std::vector<ArrayIn>& arrays)
{
    std::erase_if(abandoned(), [](const auto& job) { return is_swept(*job); });
    if (PyThread_get_thread_ident() != main_thread) {
        const nb::gil_scoped_release released;
        work();
        return;
    }
    const auto job = std::make_shared<Job>();
    job->work = std::move(work);
    std::thread([job] {
        const WorkStopper::Here here(job->stopper);
        try {
            job->work();
        } catch (...) {
            job->failure = std::current_exception();
        }
        const std::lock_guard lock(job->mutex);
        job->is_done = true;
        job->done.notify_all();
    }).detach();
    for (;;) {
        {
            const nb::gil_scoped_release released;
            if (wait_a_little(*job))
                break;
        }
        if (PyErr_CheckSignals() != 0) {
            job->stopper->stop();
            job->arrays = std::move(arrays);
            abandoned().push_back(job);
            throw nb::python_error();
        }
    }
    if (job->failure)
        std::rethrow_exception(job->failure);
}

void run_by_size(std::int64_t num_elements, std::int64_t few, const std::function<void()>& work,
                 std::vector<ArrayIn>& arrays)
{
    if (num_elements >= few)
        return run_interruptible(work, arrays);
    const nb::gil_scoped_release released;
    work();
}

void wait_for_abandoned()
{
    for (const auto& job : abandoned()) {
        const nb::gil_scoped_release released;
        while (!wait_a_little(*job)) {}
    }
    std::erase_if(abandoned(), [](const auto& job) { return is_swept(*job); });
}

}  // namespace segfold::python
