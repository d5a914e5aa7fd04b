#pragma once
// Reads and writes baseline files. A baseline holds static costs, and ratios of times for each device; later
// builds are compared with it.
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

/// The ratios of times measured on one device.
struct DeviceTimes {
    std::string device;    ///< "NVIDIA H200"
    std::string driver;    ///< CUDA version of the driver
    std::string compiler;  ///< "NVRTC 13.0"
    std::int64_t num_elements = 0;
    std::vector<TimeCase> cases;
};

/// The contents of a baseline file. A member without value was never saved.
struct Baseline {
    std::optional<StaticCosts> static_costs;
    std::vector<DeviceTimes> times;  ///< at most one entry per device

    /// Returns the entry of a device; null if there is none.
    [[nodiscard]] const DeviceTimes* find(std::string_view device) const;
    /// Replaces the ratios of a device, but keeps the old cases for which `stay` returns true.
    ///
    /// Returns the number of such cases that are lost. All of them are lost if the driver, the compiler or
    /// the number of elements differs, because a baseline has one of each per device.
    std::size_t replace(DeviceTimes times, const std::function<bool(const TimeCase&)>& stay = {});
    /// Replaces the static costs, but keeps the old costs for which `stay` returns true. Returns the number
    /// of such costs that are lost: all of them if the compiler differs, else 0.
    std::size_t replace(StaticCosts costs, const std::function<bool(const StaticCost&)>& stay = {});
};

/// Parses the text of a baseline. Error messages call the text `name`.
///
/// Throws InputError if the text is malformed. The message names the place in the document, the value there,
/// and the right value.
[[nodiscard]] Baseline parse_baseline(const std::string& name, std::string_view text);

/// Reads a baseline from a file. Throws InputError if the file cannot be read or is malformed.
[[nodiscard]] Baseline read_baseline(const std::string& path);

/// Returns JSON with one cost or case per line, so two baselines can be compared with a text tool.
[[nodiscard]] std::string print(const Baseline& baseline);

/// Writes the file completely or leaves it unchanged. Throws InputError if the file cannot be written.
void write_baseline(const std::string& path, const Baseline& baseline);

}  // namespace segfold::regress
