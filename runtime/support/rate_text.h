#pragma once
// Prints rates of bytes.
#include <fmt/format.h>

#include <string>

namespace segfold {

/// Prints a rate in GB/s: "3133", "12.5"; slow rates with two significant digits, "0.0043".
inline std::string gigabytes_text(double bytes_per_second)
{
    const double rate = bytes_per_second / 1e9;
    return rate >= 100              ? fmt::format("{:.0f}", rate)
           : rate >= 1 || rate == 0 ? fmt::format("{:.1f}", rate)
                                    : fmt::format("{:.2g}", rate);
}

}  // namespace segfold
