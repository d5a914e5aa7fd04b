#pragma once
// The smallest back end: it takes emitted text, ignores it, and folds by the reference.
#include <memory>

#include "runtime/backends/backend.h"
#include "runtime/backends/host_timing.h"
#include "runtime/judge/reference.h"

namespace segfold::test {

class SkeletonBackend : public Backend {
public:
    [[nodiscard]] std::string_view name() const override { return "skeleton"; }
    [[nodiscard]] std::string description() const override { return "the reference under another name"; }
    [[nodiscard]] bool runs_stages() const override { return true; }
    [[nodiscard]] std::optional<DeviceIdentity> identity() const override { return host_identity(); }
    [[nodiscard]] std::unique_ptr<Timing> timing() override
    {
        HostPlans plans;
        plans.prepare = [](const Workload& workload, const Emitted&, Results& results) {
            return [&workload, &results] { results = reduce_sequentially(workload); };
        };
        return make_host_timing(std::move(plans));
    }

private:
    Results run_workload(const Workload& workload, const Emitted* text, const Circumstances& circumstances,
                         RunTimes& times) override
    {
        if (text->source.empty() || circumstances.launches < 1)
            throw InternalError("the skeleton was given no text");
        times.kernel_seconds = 0;
        return reduce_sequentially(workload);
    }
};

/// Adds it to the table of back ends, once.
inline void add_skeleton_backend()
{
    static const bool is_added = [] {
        add_backend({"skeleton", "folds by the reference", false, false,
                     [](const BackendOptions&) { return std::make_unique<SkeletonBackend>(); }});
        return true;
    }();
    (void)is_added;
}

}  // namespace segfold::test
