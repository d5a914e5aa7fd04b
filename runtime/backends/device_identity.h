#pragma once
// Tells one kind of device from another; tuning records are kept by it.
#include <cstdint>
#include <string>

namespace segfold {

namespace cuda {
struct DeviceInfo;
}

/// Tells one kind of GPU or host from another; two boards of one model have the same.
struct DeviceIdentity {
    std::string name;            ///< of a slice (MIG) the driver's name says so, and sizes are the slice's
    int compute_capability = 0;  ///< 90; 0 for a host
    int multiprocessors = 0;     ///< of a host: the threads that it runs at a time
    std::int64_t l2_bytes = 0;   ///< of a host: its last cache
    int bus_width_bits = 0;
    int clock_khz = 0;
    int memory_clock_khz = 0;

    bool operator==(const DeviceIdentity&) const = default;
};

DeviceIdentity identity_of(const cuda::DeviceInfo& info);
/// The processor that this process runs on.
DeviceIdentity host_identity();
/// "NVIDIA H200 (9.0, 132 multiprocessors)", "AMD EPYC 9654 (96 threads)"
std::string print(const DeviceIdentity& device);

}  // namespace segfold
