#pragma once
// Rates of bytes, told to people.
#include <fmt/format.h>

#include <string>

namespace segfold {

/// GB/s: "3133", "12.5", and of what is slow two digits that count, "0.0043".
inline std::string gigabytes_text(double bytes_per_second)
{
    const double rate = bytes_per_second / 1e9;
    return rate >= 100              ? fmt::format("{:.0f}", rate)
           : rate >= 1 || rate == 0 ? fmt::format("{:.1f}", rate)
                                    : fmt::format("{:.2g}", rate);
}

}  // namespace segfold
