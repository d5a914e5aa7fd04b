#pragma once
// Bytes that lie on GPUs gathered on all of them by NCCL.
#include <optional>
#include <span>
#include <vector>

#include "runtime/backends/cuda/driver/context.h"
#include "runtime/session/nccl/nccl_library.h"

namespace segfold::nccl {

/// The devices of this process among those of all processes, numbered in the order of processes.
class DeviceGather {
public:
    /// Of `num_devices` devices in all this process has those from `first` on, by their contexts; null
    /// stands for memory of the host. All processes have the same id; where there are several, they construct
    /// at the same time. Throws DeviceError.
    DeviceGather(const Library& library, std::vector<const cuda::Context*> contexts, int first,
                 int num_devices, const UniqueId& id);
    ~DeviceGather();
    DeviceGather(const DeviceGather&) = delete;
    DeviceGather& operator=(const DeviceGather&) = delete;

    /// Queues, behind what the default stream of each device has: `bytes` bytes at mine[i] go to device i of
    /// this process and to all others, where all[i] receives those of all devices in their order. Collective.
    void all_gather(std::span<const std::byte* const> mine, std::span<std::byte* const> all,
                    std::size_t bytes);

private:
    const Library& library_;
    std::vector<const cuda::Context*> contexts_;
    std::vector<std::optional<cuda::Stream>> streams_;  ///< each ordered with its device's default stream
    std::vector<ncclComm*> comms_;
};

/// A new id. Throws DeviceError.
[[nodiscard]] UniqueId new_id(const Library& library);

}  // namespace segfold::nccl
