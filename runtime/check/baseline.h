#pragma once
// A baseline file, with which later builds are compared: static costs, and ratios of times for each device.
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
    std::string driver;    ///< the driver's CUDA version
    std::string compiler;  ///< "NVRTC 13.0"
    std::int64_t num_elements = 0;
    std::vector<TimeCase> cases;
};

/// The contents of a baseline file. A part that was never saved is absent.
struct Baseline {
    std::optional<StaticCosts> static_costs;
    std::vector<DeviceTimes> times;  ///< at most one entry per device

    /// Returns the entry of a device; null if there is none.
    [[nodiscard]] const DeviceTimes* find(std::string_view device) const;
    /// Replaces a device's ratios, but keeps the old cases that `stay` selects.
    ///
    /// Returns the number of selected cases that are lost. If the driver, the compiler or the number of
    /// elements differs, all of them are lost, because a baseline has one of each per device.
    std::size_t replace(DeviceTimes times, const std::function<bool(const TimeCase&)>& stay = {});
    /// Replaces the static costs, but keeps the old costs that `stay` selects. Returns the number of selected
    /// costs that are lost: all if the compiler differs, else 0.
    std::size_t replace(StaticCosts costs, const std::function<bool(const StaticCost&)>& stay = {});
};

/// Reads a baseline's text. Error messages call the text `name`.
///
/// If the text is wrong, throws InputError with the place in the document, the value there, and the right
/// value.
[[nodiscard]] Baseline parse_baseline(const std::string& name, std::string_view text);

/// Reads a baseline from a file. Throws InputError if the file cannot be read or is wrong.
[[nodiscard]] Baseline read_baseline(const std::string& path);

/// Returns JSON with one cost or case per line, so two baselines can be compared with a text tool.
[[nodiscard]] std::string print(const Baseline& baseline);

/// Writes the file completely or not at all. Throws InputError if the file cannot be written.
void write_baseline(const std::string& path, const Baseline& baseline);

}  // namespace segfold::regress
