#pragma once
// Identifies a kind of device. Tuning records are stored by kind of device.
#include <cstdint>
#include <string>

namespace segfold {

namespace cuda {
struct DeviceInfo;
}

/// Properties that identify a kind of GPU or host. Two boards of the same model have equal identities.
struct DeviceIdentity {
    std::string name;            ///< a MIG slice has a name and sizes of its own
    int compute_capability = 0;  ///< such as 90 for 9.0; 0 for a host
    int multiprocessors = 0;     ///< for a host, its number of hardware threads
    std::int64_t l2_bytes = 0;   ///< for a host, the size of its last-level cache
    int bus_width_bits = 0;
    int clock_khz = 0;
    int memory_clock_khz = 0;

    bool operator==(const DeviceIdentity&) const = default;
};

DeviceIdentity identity_of(const cuda::DeviceInfo& info);
/// Returns the identity of the processor of this host.
DeviceIdentity host_identity();
/// Returns text such as "NVIDIA H200 (9.0, 132 multiprocessors)" or "AMD EPYC 9654 (96 threads)".
std::string print(const DeviceIdentity& device);

}  // namespace segfold
