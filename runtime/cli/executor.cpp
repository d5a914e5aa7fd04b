#include "runtime/cli/executor.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <thread>

#include "dsl/error.h"
#include "runtime/backends/cuda/cuda_backend.h"
#include "runtime/backends/simt/simt_backend.h"
#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/judge/reference.h"

namespace segfold::cli {
namespace {

constexpr std::array<std::string_view, 5> kBackendNames = {"cuda", "simt", "reference", "thrust", "auto"};

ThrustSystem thrust_system()
{
    return thrust_available(ThrustSystem::cuda) ? ThrustSystem::cuda : ThrustSystem::cpu;
}

Backend choose(const Arguments& arguments)
{
    const auto asked = arguments.choice("backend", kBackendNames);
    if (asked && kBackendNames[*asked] != "auto")
        return static_cast<Backend>(*asked);
    if (arguments.has("schedule-seed"))
        return Backend::simt;
    return arguments.has("device") || !cuda::devices().empty() ? Backend::cuda : Backend::simt;
}

std::string thread_text()
{
    const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

}  // namespace

std::string_view name(Backend backend) { return kBackendNames[static_cast<std::size_t>(backend)]; }

Executor::Executor(const Arguments& arguments) : backend_(choose(arguments))
{
    const auto device = arguments.integer("device", 0, 1023);
    const auto seed = arguments.integer("schedule-seed", 0, kLargestSeed);
    if (backend_ != Backend::cuda)
        arguments.refuse("device",
                         fmt::format("chooses a GPU, and the back end {} uses none", name(backend_)));
    if (backend_ != Backend::simt)
        arguments.refuse("schedule-seed",
                         fmt::format("orders the threads of simt, and the back end is {}", name(backend_)));
    if (seed)
        schedule_seed_ = static_cast<std::uint64_t>(*seed);
    if (backend_ == Backend::cuda) {
        const auto ordinal = static_cast<int>(device.value_or(0));
        gpu_ = cuda::device(ordinal);
        context_ = std::async(std::launch::async, [ordinal] { return cuda::Context(ordinal); }).share();
    }
    if (backend_ == Backend::thrust && !thrust_available(thrust_system()))
        throw DeviceError("thrust cannot run here: " + thrust_unavailable_reason(ThrustSystem::cpu));
}

Executor::~Executor() = default;

simt::Options Executor::simt_options(std::uint64_t round) const
{
    return schedule_seed_ || round != 0 ? simt::options_from_seed(schedule_seed_.value_or(0) + round)
                                        : simt::Options{};
}

Target Executor::target() const { return gpu_ ? cuda::target_of(*gpu_) : Target{}; }

std::optional<cuda::DeviceInfo> Executor::device() const { return gpu_; }

std::string Executor::description() const
{
    switch (backend_) {
        case Backend::cuda:
            return fmt::format("{}, compute capability {}.{}", gpu_->name, gpu_->compute_major,
                               gpu_->compute_minor);
        case Backend::simt: {
            const auto options = simt_options(0);
            return fmt::format("{}, schedule {}, blocks {}, seed {}", thread_text(),
                               simt::name(options.schedule), simt::name(options.block_order), options.seed);
        }
        case Backend::thrust:
            return thrust_description(thrust_system());
        default:
            return thread_text();
    }
}

std::unique_ptr<regress::Runner> Executor::runner() const
{
    return backend_ == Backend::cuda ? regress::cuda_runner(context_.get())
                                     : regress::simt_runner(schedule_seed_.value_or(1));
}

Results Executor::run(const Workload& workload, const Plan* plan, std::uint64_t round, RunTimes* times) const
{
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    RunTimes taken;
    auto results = run_backend(workload, plan, round, taken);
    taken.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (times)
        *times = taken;
    return results;
}

Results Executor::run_backend(const Workload& workload, const Plan* plan, std::uint64_t round,
                              RunTimes& times) const
{
    switch (backend_) {
        case Backend::cuda: {
            // To compile, the GPU's architecture is enough: the context may still be in the making, and the
            // arrays are copied meanwhile.
            cuda::CompileCache programs;
            const auto request = cuda::variant_of(*gpu_, plan->emitted, plan->stage->name).request;
            const auto compiling = std::async(std::launch::async, [&] { return programs.get(request); });
            return cuda::run(context_.get(), workload, plan->emitted, plan->stage->name, &programs, &times);
        }
        case Backend::simt:
            return simt::run(workload, plan->emitted, simt_options(round), {}, 4, 1, 0, {}, &times);
        case Backend::thrust:
            return reduce_by_key(workload, thrust_system());
        default:
            return reduce_sequentially(workload);
    }
}

ThrustResults run_thrust(const Workload& workload)
{
    const auto system = thrust_system();
    if (!thrust_available(system))
        return {std::nullopt, "", thrust_unavailable_reason(system)};
    if (auto objection = thrust_objection(workload.op); !objection.empty())
        return {std::nullopt, thrust_description(system), std::move(objection)};
    return {reduce_by_key(workload, system), thrust_description(system), ""};
}

}  // namespace segfold::cli
