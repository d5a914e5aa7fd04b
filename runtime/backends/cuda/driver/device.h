#pragma once
// The GPUs of this machine and their properties.
#include <cstddef>
#include <string>
#include <vector>

#include "codegen/problem.h"

namespace segfold::cuda {

/// Properties of one GPU, as the driver reports them.
struct DeviceInfo {
    int ordinal = 0;
    std::string name;
    int compute_major = 0;
    int compute_minor = 0;
    int multiprocessors = 0;
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;
    int max_threads_per_block = 0;
    int max_threads_per_multiprocessor = 0;
    int max_blocks_per_multiprocessor = 0;
    std::size_t shared_per_block = 0;        ///< limit for kernels that do not request more
    std::size_t shared_per_block_optin = 0;  ///< limit for kernels that request it
    std::size_t shared_per_multiprocessor = 0;
    std::size_t shared_reserved_per_block = 0;  ///< bytes of a block's shared memory that the system uses
    int registers_per_multiprocessor = 0;
    int clock_khz = 0;         ///< highest clock of the multiprocessors; 0 if unknown
    int memory_clock_khz = 0;  ///< 0 if unknown
    int bus_width_bits = 0;
    double peak_bytes_per_second = 0;  ///< computed with two transfers per memory clock; 0 if unknown
    bool cooperative_launch = false;
    int driver_version = 0;  ///< CUDA version of the driver, such as 13000 for 13.0
    std::string pci_id;      ///< such as "0000:3b:00.0"
    std::string uuid;        ///< such as "GPU-01234567-89ab-cdef-0123-456789abcdef"

    /// Returns "sm_90"; never the architecture-specific "sm_90a".
    [[nodiscard]] std::string architecture() const;
};

/// Returns every GPU that this process may use, in the driver's order; empty if there is no driver.
[[nodiscard]] std::vector<DeviceInfo> devices();

/// Returns the reason why devices() is empty, as a sentence; empty if there is a GPU.
[[nodiscard]] std::string no_device_reason();

/// Returns the GPU with index `ordinal`. If there is none, throws DeviceError that lists the GPUs or gives
/// the reason why there are none.
[[nodiscard]] DeviceInfo device(int ordinal);

/// Returns a CUDA version in the usual notation, such as "13.0" for 13000.
[[nodiscard]] std::string version_text(int version);

/// Returns the properties of this GPU on which texts and plans depend.
[[nodiscard]] inline Target target_of(const DeviceInfo& info)
{
    const bool is_ampere = info.compute_major >= 8;
    return {is_ampere, is_ampere, static_cast<std::int64_t>(info.shared_per_block_optin),
            10 * info.compute_major + info.compute_minor};
}

/// Returns these properties for any GPU of compute capability `capability`, such as 90 for 9.0.
///
/// Source: NVIDIA, "CUDA C++ Programming Guide", 13.0, 2025, technical specifications per compute capability.
[[nodiscard]] Target target_of_capability(int capability);

}  // namespace segfold::cuda
