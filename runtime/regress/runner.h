#pragma once
// What regress runs plans on: simt or a GPU, with the circumstances varied that must not change a bit.
#include <cstdint>
#include <memory>
#include <string>

#include "codegen/emit.h"
#include "runtime/data/workload.h"

namespace segfold::cuda {
class Context;
}

namespace segfold::regress {

/// The circumstances of a run that its results must not depend on.
struct Circumstances {
    int launches = 1;          ///< one after the other with the same scratch; the last one's results count
    int shifted_elements = 0;  ///< by which columns begin behind an aligned address
    std::uint8_t scratch_poison = 0xcd;  ///< what scratch memory holds that need not be zero
    std::uint64_t round = 0;             ///< simt: another order of threads and blocks
};

/// Runs plans.
class Runner {
public:
    virtual ~Runner() = default;

    /// Runs an emitted text of stage `name`. Throws simt::SimtError for a fault that simt finds, DeviceError.
    [[nodiscard]] virtual Results run(const Workload& workload, const Emitted& emitted,
                                      const std::string& name, const Circumstances& circumstances) = 0;
    /// What the device is capable of.
    [[nodiscard]] virtual Target target() const = 0;
    /// Whether a schedule can be varied.
    [[nodiscard]] virtual bool has_schedules() const = 0;
};

/// Runs on the CPU; `seed` is that of the first round's schedule.
[[nodiscard]] std::unique_ptr<Runner> simt_runner(std::uint64_t seed);

/// Runs on a GPU; remembers what it compiled.
[[nodiscard]] std::unique_ptr<Runner> cuda_runner(const cuda::Context& context);

}  // namespace segfold::regress
