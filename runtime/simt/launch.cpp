// Launches a kernel over its grid: Program::launch().
#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <system_error>
#include <thread>

#include "codegen/problem.h"
#include "dsl/lasting.h"
#include "dsl/stopped.h"
#include "runtime/simt/execution/worker.h"
#include "runtime/simt/judging/crash_guard.h"

namespace segfold::simt {
namespace {

constexpr unsigned kMaxBlockThreads = 1024;
constexpr unsigned kMaxClusterBlocks = 8;  // every GPU with clusters allows this many
constexpr std::uint64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();

/// Keeps the stacks and block states that no launch is using, for later launches.
class IdleMemory {
public:
    std::unique_ptr<WorkerMemory> take()
    {
        const std::lock_guard lock(mutex_);
        if (idle_.empty())
            return std::make_unique<WorkerMemory>();
        auto memory = std::move(idle_.back());
        idle_.pop_back();
        return memory;
    }
    void give_back(std::unique_ptr<WorkerMemory> memory)
    {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(memory));
    }

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<WorkerMemory>> idle_;
};

IdleMemory& idle_memory()
{
    static auto& instance = lasting([] { return IdleMemory(); });
    return instance;
}

/// Reserves `count` consecutive block numbers and returns the first. A number is never 0, and repeats only
/// after 2^32 blocks have run.
std::uint32_t take_numbers(std::uint32_t count)
{
    static std::mutex mutex;
    static std::uint32_t next = 1;
    const std::lock_guard lock(mutex);
    if (count > std::numeric_limits<std::uint32_t>::max() - next)
        next = 1;
    return std::exchange(next, next + count);
}

void check_shape(const Launch& launch, std::size_t num_arguments, unsigned num_parameters)
{
    const Dimensions& shape = launch.dimensions;
    const std::string kernel = "simt: kernel " + launch.kernel;
    const std::uint64_t threads = std::uint64_t{shape.block_x} * shape.block_y * shape.block_z;
    if (threads == 0 || threads > kMaxBlockThreads || shape.block_y > kMaxBlockThreads ||
        shape.block_z > kMaxBlockThreads)
        throw InputError(kernel + ": a block of " + std::to_string(shape.block_x) + " x " +
                         std::to_string(shape.block_y) + " x " + std::to_string(shape.block_z) +
                         " threads; from 1 to 1024 are possible");
    if (shape.grid_x == 0 || shape.grid_y == 0 || shape.grid_z == 0 || shape.grid_y > 65535 ||
        shape.grid_z > 65535 || launch.num_blocks > kMaxBlocks)
        throw InputError(kernel + ": a grid of " + std::to_string(shape.grid_x) + " x " +
                         std::to_string(shape.grid_y) + " x " + std::to_string(shape.grid_z) +
                         " blocks; from 1 to " + std::to_string(kMaxBlocks) + " are possible");
    if (shape.dynamic_shared_bytes > kMaxDynamicSharedBytes)
        throw InputError(kernel + ": " + std::to_string(shape.dynamic_shared_bytes) +
                         " bytes of dynamic shared memory; at most " +
                         std::to_string(kMaxDynamicSharedBytes) + " are possible");
    if (launch.cluster_blocks == 0 || launch.cluster_blocks > kMaxClusterBlocks ||
        shape.grid_x % launch.cluster_blocks != 0)
        throw InputError(kernel + ": a grid of " + std::to_string(shape.grid_x) +
                         " blocks along x in clusters " +
                         (launch.cluster_blocks == 0 ? "of more than one dimension"
                                                     : "of " + std::to_string(launch.cluster_blocks)) +
                         "; clusters of 1 to " + std::to_string(kMaxClusterBlocks) +
                         " blocks along x are possible, and grids of whole ones");
    if (num_arguments != num_parameters)
        throw InputError(kernel + ": " + std::to_string(num_arguments) + " arguments for " +
                         std::to_string(num_parameters) + " parameters");
    if (launch.options.resident_blocks < 1 || launch.options.os_threads < 0)
        throw InputError(
            kernel + ": " + std::to_string(launch.options.resident_blocks) + " resident blocks on " +
            std::to_string(launch.options.os_threads) +
            " OS threads; at least one block is needed, and 0 OS threads means one for each core");
}

/// Returns the arrays that count toward the kernel's limit of static shared memory.
///
/// The kernel's own arrays count. In a text with one kernel, arrays of all device functions count too. In a
/// text with several kernels, an array of a device function counts only if it exceeds the limit by itself.
std::vector<Symbol> static_arrays(const Launch& launch)
{
    const auto& kernels = launch.module.kernels();
    std::vector<Symbol> arrays;
    for (const Symbol& array : launch.module.symbols().shared) {
        if (array.name.starts_with("__segfold_"))
            continue;  // an array of the executor itself
        const auto of = array.name.rfind(" of ");
        const auto function = of == std::string::npos ? std::string() : array.name.substr(of + 4);
        const bool is_too_large = array.bytes > static_cast<std::uint64_t>(kMostStaticSharedBytes);
        if (kernels.contains(function) ? function == launch.kernel : kernels.size() == 1 || is_too_large)
            arrays.push_back(array);
    }
    return arrays;
}

/// Throws SimtError if a block needs more static and dynamic shared memory than a GPU has.
void check_shared(const Launch& launch)
{
    const auto arrays = static_arrays(launch);
    std::uint64_t bytes = 0;
    for (const Symbol& array : arrays)
        bytes += array.bytes;
    const std::uint64_t dynamic_bytes = launch.dimensions.dynamic_shared_bytes;
    const auto kernel =
        "kernel " + launch.kernel + ": " + std::to_string(bytes) + " bytes of static shared memory";
    if (bytes > static_cast<std::uint64_t>(kMostStaticSharedBytes)) {
        const auto largest = std::ranges::max_element(arrays, {}, &Symbol::bytes);
        throw SimtError(Fault::shared_memory,
                        kernel + ", of which '" + largest->name + "' has " + std::to_string(largest->bytes) +
                            "; a block has at most " + std::to_string(kMostStaticSharedBytes) +
                            "; more is dynamic, by 'shared = BYTES' of the launch line");
    }
    if (bytes + dynamic_bytes > kMaxDynamicSharedBytes)
        throw SimtError(Fault::shared_memory, kernel + " and " + std::to_string(dynamic_bytes) +
                                                  " of dynamic; a block has at most " +
                                                  std::to_string(kMaxDynamicSharedBytes) + " of both");
}

/// Computes which bytes of the module's thread-local memory serve as shared memory in this launch.
void lay_out_shared(Launch& launch)
{
    const Symbols& symbols = launch.module.symbols();
    launch.shared_words.assign((symbols.shared_bytes + 3) / 4, 0);
    for (const Symbol& array : symbols.shared) {
        const bool dynamic = array.name == "__segfold_dynamic_shared";
        const std::size_t end =
            array.place + (dynamic ? launch.dimensions.dynamic_shared_bytes : array.bytes);
        for (std::size_t i = array.place; i < end; ++i)
            launch.shared_words[i / 4] |= static_cast<std::uint8_t>(1u << i % 4);
        auto& ranges = launch.shared_ranges;
        if (end > array.place && !ranges.empty() && ranges.back().end + 64 >= array.place)
            ranges.back().end = end;
        else if (end > array.place)
            ranges.push_back({array.place, end});
    }
}

void order_blocks(Launch& launch)
{
    if (launch.options.block_order == BlockOrder::ascending)
        return;
    launch.order.resize(launch.num_blocks / launch.cluster_blocks);
    std::iota(launch.order.begin(), launch.order.end(), 0u);
    if (launch.options.block_order == BlockOrder::descending) {
        std::reverse(launch.order.begin(), launch.order.end());
        return;
    }
    Random random(launch.options.seed);
    for (std::size_t i = launch.order.size(); i > 1; --i)
        std::swap(launch.order[i - 1], launch.order[random.below(static_cast<std::uint32_t>(i))]);
}

/// Returns the number of clusters that are resident at a time. It is at least one, even if a cluster has more
/// blocks than `resident_blocks`.
std::uint64_t resident_clusters(const Launch& launch)
{
    const auto resident = static_cast<std::uint64_t>(launch.options.resident_blocks);
    return std::min(std::max<std::uint64_t>(1, resident / launch.cluster_blocks),
                    launch.num_blocks / launch.cluster_blocks);
}

/// Runs one worker. If the worker throws, keeps its exception as the launch's error.
void work(Launch& launch, unsigned index, unsigned num_slots, LaunchStatistics& statistics)
{
    auto memory = idle_memory().take();
    try {
        Worker worker(launch, *memory, index, num_slots);
        const CrashGuard guard(launch.options.endless_seconds);
        worker.run();
        statistics.fiber_switches = worker.switches();
        statistics.thread_steps = worker.steps();
    } catch (...) {
        const std::lock_guard lock(launch.failure_mutex);
        launch.error = std::current_exception();
        launch.failed.store(true, std::memory_order_relaxed);
    }
    if (launch.failed.load(std::memory_order_relaxed))
        memory->fibers.reset();
    idle_memory().give_back(std::move(memory));
}

void run_workers(Launch& launch, LaunchStatistics& total)
{
    std::vector<LaunchStatistics> statistics(launch.num_workers);
    const auto slots_of = [&](unsigned index) {
        const auto resident = static_cast<unsigned>(resident_clusters(launch));
        return launch.cluster_blocks *
               (resident / launch.num_workers + (index < resident % launch.num_workers ? 1 : 0));
    };
    std::vector<std::thread> threads;
    try {
        for (unsigned i = 1; i < launch.num_workers; ++i)
            threads.emplace_back([&, i] { work(launch, i, slots_of(i), statistics[i]); });
    } catch (const std::system_error&) {
        // A worker whose OS thread did not start counts as stuck, so that the search for deadlocks does not
        // wait for it.
        for (std::size_t i = threads.size() + 1; i < launch.num_workers; ++i)
            launch.progress[i].stuck_at = launch.strong_progress[i].stuck_at = ~std::uint64_t{0};
    }
    work(launch, 0, slots_of(0), statistics[0]);
    for (std::thread& thread : threads)
        thread.join();
    for (const LaunchStatistics& part : statistics) {
        total.fiber_switches += part.fiber_switches;
        total.thread_steps += part.thread_steps;
    }
}

}  // namespace

Program Program::compile(const std::string& source, std::span<const std::string> kernels,
                         const CompileOptions& options)
{
    return Program(compile_module(source, kernels, options));
}

LaunchStatistics Program::launch(const std::string& kernel, const Dimensions& dimensions,
                                 std::span<void* const> arguments, const Options& options) const
{
    const auto start = std::chrono::steady_clock::now();
    const Module::Kernel& chosen = module_->kernel(kernel);
    std::vector<void*> pointers(arguments.begin(), arguments.end());
    Launch launch(*module_, kernel, chosen.entry, pointers.data(), dimensions, options);
    launch.num_blocks = std::uint64_t{dimensions.grid_x} * dimensions.grid_y * dimensions.grid_z;
    launch.cluster_blocks = chosen.cluster_blocks;
    check_shape(launch, arguments.size(), chosen.parameters);
    check_shared(launch);
    launch.block_threads = dimensions.block_x * dimensions.block_y * dimensions.block_z;
    launch.first_number = take_numbers(static_cast<std::uint32_t>(launch.num_blocks));
    launch.shadow = options.shadow_check && module_->checked();
    const unsigned cores = options.os_threads > 0 ? static_cast<unsigned>(options.os_threads)
                                                  : std::max(1u, std::thread::hardware_concurrency());
    launch.stop = stop_flag();
    launch.num_workers = static_cast<unsigned>(std::min<std::uint64_t>(cores, resident_clusters(launch)));
    launch.progress = std::vector<Launch::Progress>(launch.num_workers);
    launch.strong_progress = std::vector<Launch::Progress>(launch.num_workers);
    lay_out_shared(launch);
    order_blocks(launch);

    LaunchStatistics statistics;
    run_workers(launch, statistics);
    if (launch.error)
        std::rethrow_exception(launch.error);
    if (launch.failure)
        throw SimtError(*launch.failure);
    statistics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return statistics;
}

}  // namespace segfold::simt
