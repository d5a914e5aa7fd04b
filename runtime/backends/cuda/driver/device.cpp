#include "runtime/backends/cuda/driver/device.h"

#include <fmt/format.h>

#include <array>

#include "dsl/error.h"
#include "runtime/backends/cuda/library.h"

namespace segfold::cuda {
namespace {

// The values of CUdevice_attribute that DeviceInfo needs.
enum class DeviceAttribute : int {
    max_threads_per_block = 1,
    shared_per_block = 8,
    clock_khz = 13,
    multiprocessors = 16,
    memory_clock_khz = 36,
    bus_width_bits = 37,
    l2_bytes = 38,
    max_threads_per_multiprocessor = 39,
    compute_major = 75,
    compute_minor = 76,
    shared_per_multiprocessor = 81,
    registers_per_multiprocessor = 82,
    cooperative_launch = 95,
    shared_per_block_optin = 97,
    max_blocks_per_multiprocessor = 106,
    shared_reserved_per_block = 111,
};

// Returns a device attribute; 0 if this driver does not report it.
int attribute(CUdevice device, DeviceAttribute which)
{
    int value = 0;
    const CUresult result = driver().cuDeviceGetAttribute(&value, static_cast<int>(which), device);
    return result == CUresult::success ? value : 0;
}

std::size_t size_attribute(CUdevice device, DeviceAttribute which)
{
    return static_cast<std::size_t>(attribute(device, which));
}

std::string uuid_of(CUdevice device)
{
    CUuuid uuid = {};
    if (!driver().cuDeviceGetUuid || driver().cuDeviceGetUuid(&uuid, device) != CUresult::success)
        return {};
    std::string text = "GPU";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i)
        text += fmt::format("{}{:02x}", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                            uuid.bytes[i]);
    return text;
}

DeviceInfo describe(int ordinal)
{
    CUdevice device = 0;
    check(driver().cuDeviceGet(&device, ordinal), "cuDeviceGet");
    DeviceInfo info;
    info.ordinal = ordinal;
    std::array<char, 256> text = {};
    check(driver().cuDeviceGetName(text.data(), text.size(), device), "cuDeviceGetName");
    info.name = text.data();
    check(driver().cuDeviceGetPCIBusId(text.data(), text.size(), device), "cuDeviceGetPCIBusId");
    info.pci_id = text.data();
    info.uuid = uuid_of(device);
    check(driver().cuDeviceTotalMem(&info.memory_bytes, device), "cuDeviceTotalMem");
    check(driver().cuDriverGetVersion(&info.driver_version), "cuDriverGetVersion");
    info.compute_major = attribute(device, DeviceAttribute::compute_major);
    info.compute_minor = attribute(device, DeviceAttribute::compute_minor);
    info.multiprocessors = attribute(device, DeviceAttribute::multiprocessors);
    info.l2_bytes = size_attribute(device, DeviceAttribute::l2_bytes);
    info.max_threads_per_block = attribute(device, DeviceAttribute::max_threads_per_block);
    info.max_threads_per_multiprocessor = attribute(device, DeviceAttribute::max_threads_per_multiprocessor);
    info.max_blocks_per_multiprocessor = attribute(device, DeviceAttribute::max_blocks_per_multiprocessor);
    info.shared_per_block = size_attribute(device, DeviceAttribute::shared_per_block);
    info.shared_per_block_optin = size_attribute(device, DeviceAttribute::shared_per_block_optin);
    info.shared_per_multiprocessor = size_attribute(device, DeviceAttribute::shared_per_multiprocessor);
    info.shared_reserved_per_block = size_attribute(device, DeviceAttribute::shared_reserved_per_block);
    info.registers_per_multiprocessor = attribute(device, DeviceAttribute::registers_per_multiprocessor);
    info.clock_khz = attribute(device, DeviceAttribute::clock_khz);
    info.memory_clock_khz = attribute(device, DeviceAttribute::memory_clock_khz);
    info.bus_width_bits = attribute(device, DeviceAttribute::bus_width_bits);
    info.peak_bytes_per_second = 2.0 * info.memory_clock_khz * 1e3 * info.bus_width_bits / 8;
    info.cooperative_launch = attribute(device, DeviceAttribute::cooperative_launch) != 0;
    return info;
}

}  // namespace

std::string DeviceInfo::architecture() const { return fmt::format("sm_{}{}", compute_major, compute_minor); }

std::vector<DeviceInfo> devices()
{
    if (!no_device_reason().empty())
        return {};
    int count = 0;
    check(driver().cuDeviceGetCount(&count), "cuDeviceGetCount");
    std::vector<DeviceInfo> found;
    for (int ordinal = 0; ordinal < count; ++ordinal)
        found.push_back(describe(ordinal));
    return found;
}

std::string no_device_reason()
{
    try {
        int count = 0;
        check(driver().cuDeviceGetCount(&count), "cuDeviceGetCount");
        return count != 0 ? "" : "the NVIDIA driver finds no GPU; " + advice_without_gpu();
    } catch (const DeviceError& error) {
        return error.what();
    }
}

DeviceInfo device(int ordinal)
{
    if (const std::string reason = no_device_reason(); !reason.empty())
        throw DeviceError(reason);
    int count = 0;
    check(driver().cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (ordinal < 0 || ordinal >= count)
        throw DeviceError(fmt::format("there is no GPU {}; this machine has {}", ordinal,
                                      count == 1 ? "GPU 0 only" : fmt::format("GPUs 0 to {}", count - 1)));
    return describe(ordinal);
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Target target_of_capability(int capability)
{
    constexpr std::int64_t kKibibyte = 1024;
    constexpr int kAmpere = 80, kHopper = 90, kFirstOfLittle = 120;
    std::int64_t kibibytes = 99;  // 8.6, 8.9, 12.0 and 12.1
    if (capability < kAmpere)
        kibibytes = 64;
    else if (capability == kAmpere || capability == 87)
        kibibytes = 163;
    else if (capability >= kHopper && capability < kFirstOfLittle)
        kibibytes = 227;
    return {capability >= kAmpere, capability >= kAmpere, kibibytes * kKibibyte, capability};
}

}  // namespace segfold::cuda
