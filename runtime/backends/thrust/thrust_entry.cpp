// Adapts the back end "thrust" to the common interface.
#include "dsl/error.h"
#include "runtime/backends/backend_table.h"
#include "runtime/backends/thrust/reduce_by_key.h"

namespace segfold {
namespace {

class ThrustBackend : public Backend {
public:
    ThrustBackend() : system_(thrust_system())
    {
        if (!thrust_available(system_))
            throw DeviceError("thrust cannot run here: " + thrust_unavailable_reason(ThrustSystem::cpu));
    }

    [[nodiscard]] std::string_view name() const override { return "thrust"; }
    [[nodiscard]] std::string description() const override { return thrust_description(system_); }
    [[nodiscard]] bool runs_stages() const override { return false; }

private:
    Results run_workload(const Workload& workload, const Emitted* /*text*/,
                         const Circumstances& /*circumstances*/, RunTimes& /*times*/) override
    {
        return reduce_by_key(workload, system_);
    }

    ThrustSystem system_;
};

}  // namespace

std::unique_ptr<Backend> make_thrust_backend(const BackendOptions& /*options*/)
{
    return std::make_unique<ThrustBackend>();
}

}  // namespace segfold
