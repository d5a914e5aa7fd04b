// The back end "reference". Folds each segment sequentially, in the precision that defines the right results.
#include "runtime/backends/backend_table.h"
#include "runtime/judge/reference.h"

namespace segfold {
namespace {

class ReferenceBackend : public Backend {
public:
    [[nodiscard]] std::string_view name() const override { return "reference"; }
    [[nodiscard]] std::string description() const override { return host_threads_text(); }
    [[nodiscard]] bool runs_stages() const override { return false; }

private:
    Results run_workload(const Workload& workload, const Emitted* /*text*/,
                         const Circumstances& /*circumstances*/, RunTimes& /*times*/) override
    {
        return right_results(workload);
    }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend(const BackendOptions& /*options*/)
{
    return std::make_unique<ReferenceBackend>();
}

}  // namespace segfold
