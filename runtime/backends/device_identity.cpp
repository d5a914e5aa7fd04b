#include "runtime/backends/device_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "dsl/lasting.h"
#include "runtime/backends/cpu/sequential_fold.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/host_timing.h"

namespace segfold {

DeviceIdentity identity_of(const cuda::DeviceInfo& info)
{
    return {info.name,
            10 * info.compute_major + info.compute_minor,
            info.multiprocessors,
            static_cast<std::int64_t>(info.l2_bytes),
            info.bus_width_bits,
            info.clock_khz,
            info.memory_clock_khz};
}

DeviceIdentity host_identity()
{
    static const auto& known = lasting([] {
        DeviceIdentity host;
        host.name = cpu::processor_name();
        host.multiprocessors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
        host.l2_bytes = last_cache_bytes();
        return host;
    });
    return known;
}

std::string print(const DeviceIdentity& device)
{
    if (device.compute_capability == 0)
        return fmt::format("{} ({} thread{})", device.name, device.multiprocessors,
                           device.multiprocessors == 1 ? "" : "s");
    return fmt::format("{} ({}.{}, {} multiprocessors)", device.name, device.compute_capability / 10,
                       device.compute_capability % 10, device.multiprocessors);
}

}  // namespace segfold
