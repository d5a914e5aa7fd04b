#include "runtime/papers/cells.h"

#include <fmt/format.h>

#include "runtime/support/text_table.h"

namespace segfold::papers {
namespace {

constexpr double kMicroseconds = 1e3;  ///< microseconds per millisecond
constexpr double kLong = 10;           ///< milliseconds; shorter times are written in microseconds

}  // namespace

std::string published_text(const PublishedValue* value)
{
    return value ? fmt::format("{}", value->value) : "";
}

std::string published_time(const PublishedValue* value)
{
    return value ? fmt::format("{} {}", value->value, value->unit) : "";
}

std::string stage_text(const PaperRow& row)
{
    std::string text = row.is_host ? "one thread of the CPU" : row.stage;
    for (const auto& [name, value] : row.chosen)
        text += fmt::format(" {}={}", name, value);
    return text;
}

std::string times_text(double factor) { return fmt::format("{:.2f}", factor); }

std::string time_text(double milliseconds)
{
    return milliseconds < kLong ? fmt::format("{:.1f} us", milliseconds * kMicroseconds)
                                : fmt::format("{:.2f} ms", milliseconds);
}

std::string range_text(const Quartiles& milliseconds)
{
    return milliseconds.median < kLong ? fmt::format("{:.1f} - {:.1f}", milliseconds.low * kMicroseconds,
                                                     milliseconds.high * kMicroseconds)
                                       : fmt::format("{:.2f} - {:.2f}", milliseconds.low, milliseconds.high);
}

std::string rate_text(const bench::Entry& entry)
{
    return fmt::format("{:.{}f}", entry.bytes_per_second / kGigabyte,
                       entry.bytes_per_second < 10 * kGigabyte ? 2 : 0);
}

}  // namespace segfold::papers
