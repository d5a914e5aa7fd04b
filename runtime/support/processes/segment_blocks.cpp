#include "runtime/support/processes/segment_blocks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "dsl/stopped.h"
#include "runtime/support/processes/thread_pool.h"
#include "runtime/support/processes/work_stopper.h"

namespace segfold {

int thread_count(int threads) { return threads > 0 ? threads : num_usable_cores(); }

void for_blocks(std::int64_t count, int threads,
                const std::function<void(std::int64_t first, std::int64_t last)>& work)
{
    constexpr std::int64_t kBlocksPerThread = 32;
    const std::int64_t workers = count <= 1 ? 1 : std::clamp<std::int64_t>(count, 1, thread_count(threads));
    const std::int64_t block_size = std::max<std::int64_t>(1, count / (workers * kBlocksPerThread));

    std::atomic<std::int64_t> next = 0;
    std::mutex mutex;
    std::exception_ptr exception;
    std::int64_t exception_block = count;
    const auto stopper = WorkStopper::here();
    const auto run = [&] {
        const WorkStopper::Here here(stopper);
        while (true) {
            const std::int64_t first = next.fetch_add(block_size);
            if (first >= count)
                return;
            try {
                throw_if_stopped();
                work(first, std::min(first + block_size, count));
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (first < exception_block) {
                    exception_block = first;
                    exception = std::current_exception();
                }
                next = count;  // later blocks need not start, and earlier blocks have started already
            }
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::int64_t i = 1; i < workers; ++i)
            others.emplace_back(run);
        run();
    }
    if (exception)
        std::rethrow_exception(exception);
}

}  // namespace segfold
