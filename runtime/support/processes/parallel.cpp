#include "runtime/support/processes/parallel.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "dsl/stopped.h"
#include "runtime/support/processes/thread_pool.h"
#include "runtime/support/processes/work_stopper.h"

namespace segfold {

void parallel_for(std::int64_t count, std::int64_t smallest,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& work)
{
    if (count <= 0)
        return;
    const auto most = std::max<std::int64_t>(count / std::max<std::int64_t>(smallest, 1), 1);
    if (most == 1) {  // reading the number of cores would take longer than a short loop
        throw_if_stopped();
        work(0, count);
        return;
    }
    const auto parts = std::min<std::int64_t>(most, num_usable_cores());

    std::mutex mutex;
    std::exception_ptr first_exception;
    const auto stopper = WorkStopper::here();
    const auto run_part = [&](std::int64_t part) {
        const WorkStopper::Here here(stopper);
        try {
            throw_if_stopped();
            // Avoids count * part, which could overflow.
            const std::int64_t share = count / parts, left = count % parts;
            const std::int64_t begin = part * share + std::min(part, left);
            work(begin, begin + share + (part < left ? 1 : 0));
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!first_exception)
                first_exception = std::current_exception();
        }
    };

    {
        std::vector<std::jthread> threads;
        for (std::int64_t part = 1; part < parts; ++part)
            threads.emplace_back(run_part, part);
        run_part(0);
    }
    if (first_exception)
        std::rethrow_exception(first_exception);
}

}  // namespace segfold
