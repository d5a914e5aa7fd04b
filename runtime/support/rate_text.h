#pragma once
// Prints rates of bytes.
#include <fmt/format.h>

#include <string>

namespace segfold {

/// Returns a rate in GB/s as text, such as "3133" or "12.5". A rate below 1 GB/s has two significant digits,
/// as in "0.0043".
inline std::string gigabytes_text(double bytes_per_second)
{
    const double rate = bytes_per_second / 1e9;
    return rate >= 100              ? fmt::format("{:.0f}", rate)
           : rate >= 1 || rate == 0 ? fmt::format("{:.1f}", rate)
                                    : fmt::format("{:.2g}", rate);
}

}  // namespace segfold
