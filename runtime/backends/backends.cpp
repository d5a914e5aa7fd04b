#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "dsl/error.h"
#include "dsl/lasting.h"
#include "dsl/message/suggest.h"
#include "runtime/backends/backend.h"
#include "runtime/backends/backend_table.h"

namespace segfold {
namespace {

std::vector<BackendEntry>& table()
{
    static auto& entries = lasting([] {
        return std::vector<BackendEntry>{
            {"cuda", "emitted CUDA, compiled by NVRTC, on a GPU", true, false, make_cuda_backend},
            {"cpu", "emitted C++, compiled for this processor, on all cores", false, false, make_cpu_backend},
            {"simt", "the CUDA text on the CPU, with every memory access checked", false, true,
             make_simt_backend},
            {"reference", "the sequential fold of each segment", false, false, make_reference_backend},
            {"thrust", "thrust::reduce_by_key, the operator as byte code", false, false,
             make_thrust_backend}};
    });
    return entries;
}

}  // namespace

std::string_view automatic_backend(const BackendOptions& options, bool runs_cuda_stage)
{
    if (options.schedule_seed)
        return "simt";
    if (options.device || !cuda::devices().empty())
        return "cuda";
    return runs_cuda_stage ? "simt" : "cpu";
}

Results Backend::run(const Workload& workload, const Emitted* text, const Circumstances& circumstances,
                     RunTimes* times)
{
    if (runs_stages() && text == nullptr)
        throw InternalError(fmt::format("back end {} is run without a plan", name()));
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    RunTimes taken;
    auto results = run_workload(workload, text, circumstances, taken);
    taken.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (times)
        *times = taken;
    return results;
}

std::unique_ptr<Timing> Backend::timing()
{
    if (!runs_stages())
        throw DeviceError(
            fmt::format("the back end {} has no stages, so there are no plans to time", name()));
    throw DeviceError(fmt::format("the back end {} does not time its plans", name()));
}

const std::vector<BackendEntry>& backends() { return table(); }

void add_backend(BackendEntry entry)
{
    if (entry.name == "auto" || std::ranges::find(table(), entry.name, &BackendEntry::name) != table().end())
        throw InputError(fmt::format("a back end is named '{}' already; take another name", entry.name));
    table().push_back(std::move(entry));
}

std::unique_ptr<Backend> make_backend(std::string_view asked, const BackendOptions& options)
{
    const auto name = asked == "auto" ? automatic_backend(options) : asked;
    const auto entry = std::ranges::find(table(), name, &BackendEntry::name);
    if (entry == table().end()) {
        std::vector<std::string_view> names;
        for (const auto& known : table())
            names.push_back(known.name);
        throw InputError(fmt::format("unknown back end '{}'; it is one of {}, auto{}", name,
                                     fmt::join(names, ", "),
                                     did_you_mean(name == "gpu" ? "cuda" : name, names)));
    }
    if (options.device && !entry->takes_device)
        throw InputError(fmt::format("a device chooses a GPU, and the back end {} uses none", name));
    if (options.schedule_seed && !entry->takes_schedule_seed)
        throw InputError(
            fmt::format("a schedule's seed orders the threads of simt, and the back end is {}", name));
    return entry->make(options);
}

std::string host_threads_text()
{
    const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

}  // namespace segfold
