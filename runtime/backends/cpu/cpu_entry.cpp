// The back end "cpu" behind the common interface.
#include "runtime/backends/backend_table.h"
#include "runtime/backends/cpu/sequential_fold.h"

namespace segfold {
namespace {

class CpuBackend : public Backend {
public:
    [[nodiscard]] std::string_view name() const override { return "cpu"; }
    [[nodiscard]] std::string description() const override { return cpu::processor_name() + ", 1 thread"; }
    [[nodiscard]] bool runs_stages() const override { return false; }

private:
    Results run_workload(const Workload& workload, const PlanText* /*plan*/,
                         const Circumstances& /*circumstances*/, RunTimes& /*times*/) override
    {
        check_workload(workload);
        std::vector<const std::byte*> columns;
        for (const auto& array : workload.arrays)
            columns.push_back(array.data());
        auto fold = cpu::fold_sequentially(workload.op, workload.segments, columns, 0);
        return std::move(fold.results);
    }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& /*options*/)
{
    return std::make_unique<CpuBackend>();
}

}  // namespace segfold
