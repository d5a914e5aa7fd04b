// The back end "cpu" behind the common interface.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <optional>

#include "runtime/backends/backend_table.h"
#include "runtime/backends/cpu/native_plan.h"
#include "runtime/backends/cpu/sequential_fold.h"
#include "runtime/backends/simt/simt_backend.h"
#include "runtime/judge/reference.h"
#include "runtime/support/memory_at_hand.h"
#include "runtime/support/thread_pool.h"

namespace segfold {
namespace {

std::uint64_t address(const Array& array) { return reinterpret_cast<std::uint64_t>(array.data()); }

/// A copy that begins `shifted_elements` of its elements behind an aligned address.
struct ShiftedCopy {
    ShiftedCopy(const Array& array, int shifted_elements)
        : bytes(array.bytes() + static_cast<std::size_t>(shifted_elements) * size_bytes(array.type())),
          place(reinterpret_cast<std::uint64_t>(bytes.data()) +
                static_cast<std::uint64_t>(shifted_elements) * size_bytes(array.type()))
    {
        if (array.bytes() != 0)
            std::memcpy(reinterpret_cast<void*>(place), array.data(), array.bytes());
    }
    std::vector<std::byte> bytes;
    std::uint64_t place;
};

class CpuBackend : public Backend {
public:
    [[nodiscard]] std::string_view name() const override { return "cpu"; }
    [[nodiscard]] std::string description() const override
    {
        const int threads = num_usable_cores();
        return fmt::format("{}, {} thread{}{}", cpu::processor_name(), threads, threads == 1 ? "" : "s",
                           cpu::reason_without_compiler().empty() ? "" : ", interpreted");
    }
    [[nodiscard]] bool runs_stages() const override { return true; }
    [[nodiscard]] Dialect dialect() const override { return Dialect::native; }
    [[nodiscard]] std::string note() const override
    {
        const auto& reason = cpu::reason_without_compiler();
        return reason.empty() ? ""
                              : reason + "; operators are interpreted, which takes about 20 times as long";
    }

private:
    Results run_workload(const Workload& workload, const PlanText* plan, const Circumstances& circumstances,
                         RunTimes& times) override
    {
        if (!cpu::reason_without_compiler().empty())
            return reduce_sequentially(workload);
        if (plan->emitted.dialect == Dialect::cuda)
            return run_as_gpu(workload, *plan, circumstances, times);
        check_workload(workload);
        using Clock = std::chrono::steady_clock;
        cpu::NativePlan native(workload.op, plan->emitted, sizes_of(workload.segments));
        if (native.program().compile_seconds() > 0)
            times.compile_seconds = native.program().compile_seconds();
        if (circumstances.scratch_poison)
            native.poison_scratch(*circumstances.scratch_poison);
        std::vector<ShiftedCopy> copies;
        std::vector<std::uint64_t> inputs, segments, outputs;
        std::vector<std::int64_t> lengths;
        for (const auto& array : workload.arrays) {
            lengths.push_back(static_cast<std::int64_t>(array.length()));
            if (circumstances.shifted_elements == 0) {
                inputs.push_back(address(array));
                continue;
            }
            copies.emplace_back(array, circumstances.shifted_elements);
            inputs.push_back(copies.back().place);
        }
        const auto layout = segment_arrays(workload.segments, plan->emitted.form);
        for (const auto& named : layout)
            segments.push_back(address(named.array));
        auto results = allocate_results(workload, plan->emitted.form);
        for (const auto& named : results)
            outputs.push_back(address(named.array));
        const auto begin = Clock::now();
        for (int launch = 0; launch < circumstances.launches; ++launch)
            native.run(inputs, lengths, segments, outputs);
        times.kernel_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        refuse_noted_reads(workload, native.outside());
        return results;
    }

    /// The text of a GPU on this processor, with as many blocks as everywhere: a reproducible plan's order of
    /// combination is that of the GPU.
    static Results run_as_gpu(const Workload& workload, const PlanText& plan,
                              const Circumstances& circumstances, RunTimes& times)
    {
        simt::Options options;
        options.shadow_check = false;
        options.endless_seconds = 0;
        simt::CompileOptions compile_options;
        compile_options.shadow_check = false;
        compile_options.optimisation = 3;
        return simt::run(workload, plan.emitted, options, compile_options, kReproducibleMultiprocessors,
                         circumstances.launches, circumstances.shifted_elements, circumstances.scratch_poison,
                         &times);
    }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& /*options*/)
{
    return std::make_unique<CpuBackend>();
}

}  // namespace segfold
