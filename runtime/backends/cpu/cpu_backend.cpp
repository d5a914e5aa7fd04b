// Adapts the back end "cpu" to the common interface.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <optional>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "runtime/backends/backend_table.h"
#include "runtime/backends/cpu/block_interpreter.h"
#include "runtime/backends/cpu/program.h"
#include "runtime/backends/cpu/sequential_fold.h"
#include "runtime/backends/host_timing.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/judge/reference.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/processes/thread_pool.h"

namespace segfold {
namespace {

/// A copy of an array that begins `shifted_elements` elements after an aligned address.
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
                           has_compiler() ? "" : ", interpreted");
    }
    [[nodiscard]] bool runs_stages() const override { return true; }
    [[nodiscard]] Dialect dialect() const override { return Dialect::native; }
    [[nodiscard]] Target target() const override { return cpu::native_target(); }
    [[nodiscard]] std::optional<DeviceIdentity> identity() const override { return host_identity(); }
    [[nodiscard]] bool interprets() const override { return !has_compiler(); }
    [[nodiscard]] std::string note() const override
    {
        return has_compiler() ? "" : cpu::reason_without_compiler() + "; operators are interpreted";
    }
    [[nodiscard]] double seconds_to_compile(const Emitted& text) override
    {
        return has_compiler() && text.dialect == Dialect::native ? cpu::Module::seconds_to_compile(text) : 0;
    }
    void compile_all(std::span<const Emitted> texts) override
    {
        if (has_compiler())
            compile_on_all_cores(texts, compile);
    }
    [[nodiscard]] std::unique_ptr<Timing> timing() override
    {
        if (!has_compiler())
            throw DeviceError(cpu::reason_without_compiler() +
                              "; the times of stages cannot be taken where operators are interpreted");
        HostPlans plans;
        plans.compiler = cpu::compiler_version();
        plans.compile = compile;
        plans.prepare = prepare;
        return make_host_timing(std::move(plans));
    }

private:
    static bool has_compiler() { return cpu::reason_without_compiler().empty(); }

    /// Folds a workload on a machine without a compiler.
    ///
    /// Folds an operator whose combine is not associative from left to right, like the stage for such
    /// operators. The reference folds operators with rows or outputs. Other operators are interpreted on all
    /// cores.
    static void fold_without_compiler(const Workload& workload, bool is_associative, Results& results)
    {
        if (is_associative && !has_rows(workload.op) && workload.op.outputs.empty())
            cpu::interpret(workload, results);
        else
            results = is_associative ? right_results(workload) : reduce_sequentially(workload);
    }

    static double compile(const Emitted& text)
    {
        return text.dialect == Dialect::native ? cpu::Module::of(text)->compile_seconds() : 0;
    }

    static TimedLaunch prepare(const Workload& workload, const Emitted& text, Results& results)
    {
        if (text.dialect == Dialect::cuda)
            return [&workload, &results, text] {
                RunTimes times;
                results = run_as_gpu(workload, text, {}, times);
            };
        const auto native = std::make_shared<cpu::Program>(workload, text);
        return [native, &workload, &results] { native->run(workload, results); };
    }

    Results run_workload(const Workload& workload, const Emitted* text, const Circumstances& circumstances,
                         RunTimes& times) override
    {
        using Clock = std::chrono::steady_clock;
        if (text->dialect == Dialect::cuda)
            return run_as_gpu(workload, *text, circumstances, times);
        check_workload(workload);
        auto results = allocate_results(workload, text->form);
        const auto fold = [&](const auto& run) {
            const auto begin = Clock::now();
            for (int launch = 0; launch < circumstances.launches; ++launch)
                run();
            times.kernel_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        };
        if (!has_compiler()) {
            fold([&] { fold_without_compiler(workload, text->is_associative, results); });
            return results;
        }
        cpu::Program native(workload, *text);
        if (const double seconds = native.module().compile_seconds(); seconds > 0)
            times.compile_seconds = seconds;
        if (circumstances.scratch_poison)
            native.poison_scratch(*circumstances.scratch_poison);
        std::vector<ShiftedCopy> copies;
        if (circumstances.shifted_elements != 0)
            for (std::size_t i = 0; i < workload.arrays.size(); ++i) {
                const auto& array = workload.arrays[i];
                copies.emplace_back(array, circumstances.shifted_elements);
                auto shifted = view_of(array);
                shifted.data = reinterpret_cast<const void*>(copies.back().place);
                native.bind_input(i, shifted);
            }
        fold([&] { native.run(workload, results); });
        return results;
    }

    /// Runs the CUDA text of a reproducible plan on this processor. The number of blocks, and so the order of
    /// combination, is the same as on every GPU.
    static Results run_as_gpu(const Workload& workload, const Emitted& text,
                              const Circumstances& circumstances, RunTimes& times)
    {
        if (!has_compiler())
            throw DeviceError(cpu::reason_without_compiler() +
                              "; a reproducible plan has the bits of a GPU's, whose text must be compiled");
        simt::Options options;
        options.shadow_check = false;
        options.endless_seconds = 0;
        simt::CompileOptions compile_options;
        compile_options.shadow_check = false;
        compile_options.optimisation = 3;
        return simt::run(workload, text, options, compile_options, kReproducibleMultiprocessors,
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
