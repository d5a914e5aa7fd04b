#pragma once
// A file that later builds are compared with: static costs, and ratios of times for each device.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/times/static_costs.h"
#include "runtime/measure/times/verdict.h"

namespace segfold::regress {

/// The ratios of one device.
struct DeviceTimes {
    std::string device;    ///< "NVIDIA H200"
    std::string driver;    ///< the driver's CUDA version
    std::string compiler;  ///< "NVRTC 13.0"
    std::int64_t num_elements = 0;
    std::vector<TimeCase> cases;
};

/// A baseline; parts that were never saved are absent.
struct Baseline {
    std::optional<StaticCosts> static_costs;
    std::vector<DeviceTimes> times;  ///< at most one for each device

    /// The ratios of a device, or nothing.
    [[nodiscard]] const DeviceTimes* find(std::string_view device) const;
    /// Replaces a device's ratios, except for the cases that `stay`.
    ///
    /// Returns how many of these are lost all the same: all, if the driver, the compiler or the number of
    /// elements differs, because a baseline has one of each for a device.
    std::size_t replace(DeviceTimes times, const std::function<bool(const TimeCase&)>& stay = {});
    /// The same of static costs, which have one compiler.
    std::size_t replace(StaticCosts costs, const std::function<bool(const StaticCost&)>& stay = {});
};

/// Reads a baseline's text; messages call it `name`.
///
/// Throws InputError with the place in the document, the value there, and what would be right.
[[nodiscard]] Baseline parse_baseline(const std::string& name, std::string_view text);

/// Reads a file. Throws InputError.
[[nodiscard]] Baseline read_baseline(const std::string& path);

/// JSON, a cost or case in one line each, so that differences between two baselines can be read.
[[nodiscard]] std::string print(const Baseline& baseline);

/// Writes a file, whole or not at all. Throws InputError.
void write_baseline(const std::string& path, const Baseline& baseline);

}  // namespace segfold::regress
