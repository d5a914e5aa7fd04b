#include "runtime/papers/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/papers/compare.h"

namespace segfold::papers {
namespace {

constexpr double kSecondsInMillisecond = 1e-3;
constexpr double kMicrosecondsInMillisecond = 1e3;

/// A unit of a quantity with its size in base units.
struct Unit {
    std::string_view metric, name;
    double factor;
};

constexpr std::array kUnits = {Unit{"time", "ns", 1e-9},       Unit{"time", "us", 1e-6},
                               Unit{"time", "ms", 1e-3},       Unit{"time", "s", 1},
                               Unit{"bandwidth", "MB/s", 1e6}, Unit{"bandwidth", "GB/s", 1e9},
                               Unit{"bandwidth", "TB/s", 1e12}};

/// Returns the size of a unit in base units; nothing if the unit is unknown.
std::optional<double> factor_of(std::string_view metric, std::string_view unit)
{
    for (const auto& known : kUnits)
        if (known.metric == metric && known.name == unit)
            return known.factor;
    return std::nullopt;
}

bool is_speed_up(const PublishedValue& value)
{
    return value.metric.find("speed_up") != std::string::npos || value.metric.starts_with("over_");
}

/// Returns the measurement of a row if it has a time; null otherwise.
const bench::Entry* timed_entry(const MeasuredPaper* measured, const Experiment& experiment,
                                const std::string& row)
{
    const auto* entry = find_entry(measured, experiment, row);
    return is_timed(entry) ? entry : nullptr;
}

bool any_measured(const Experiment& experiment, const MeasuredPaper* measured)
{
    return std::ranges::any_of(experiment.rows, [&](const PaperRow& row) {
        return timed_entry(measured, experiment, row.row) != nullptr;
    });
}

/// Returns the first quantity that the source states for these experiments, preferring times to rates.
/// Returns nothing if the source states none.
std::optional<Quantity> published_quantity(const Paper& paper, const Experiments& experiments)
{
    for (const std::string_view metric : {"time", "bandwidth", ""})
        for (const auto* experiment : experiments)
            for (const auto& row : experiment->rows)
                for (const auto& value : paper.published)
                    if (value.figure == experiment->figure && value.row == row.row && value.value > 0 &&
                        !is_speed_up(value) && (metric.empty() || value.metric == metric))
                        return Quantity{value.metric, value.unit};
    return std::nullopt;
}

/// Returns the quantity for times: in microseconds if any measured time is below 1 ms, else in milliseconds.
Quantity measured_time(const Experiments& experiments, const MeasuredPaper& measured)
{
    double least = HUGE_VAL;
    for (const auto* experiment : experiments)
        for (const auto& row : experiment->rows)
            if (const auto* entry = timed_entry(&measured, *experiment, row.row))
                least = std::min(least, entry->milliseconds.median);
    return {"time", least < 1 ? "us" : "ms"};
}

/// Returns the row that a unit names, such as "stride 1" for the unit "of stride 1"; nothing for other units.
std::optional<std::string> whole_of(const Quantity& quantity)
{
    constexpr std::string_view kOf = "of ";
    return quantity.unit.starts_with(kOf) ? std::optional(quantity.unit.substr(kOf.size())) : std::nullopt;
}

/// True if measurements can be expressed in the quantity.
bool is_measurable(const Quantity& quantity)
{
    return whole_of(quantity) || factor_of(quantity.metric, quantity.unit);
}

/// Returns a number with four significant digits, or with all digits before its point if there are more.
std::string number_text(double value)
{
    constexpr double kLong = 1e4;
    return value < kLong ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

std::string wrong_text(const bench::Entry& entry) { return entry.agreement.agrees ? "" : ", wrong results"; }

/// Returns a mark with the rate of a row divided by the rate of the row that the unit names. The mark's text
/// also gives the time.
std::optional<Mark> share_mark(const bench::Entry& entry, const bench::Entry* whole, const Quantity& quantity)
{
    if (!whole || !(entry.bytes_per_second > 0) || !(whole->bytes_per_second > 0))
        return std::nullopt;
    const double share = entry.bytes_per_second / whole->bytes_per_second;
    return Mark{share, fmt::format("{:.2f} {}{}", share, quantity.unit, wrong_text(entry)),
                fmt::format(", {} us", number_text(entry.milliseconds.median * kMicrosecondsInMillisecond))};
}

}  // namespace

std::vector<Quantity> quantities_of(const Paper& paper, const Experiments& experiments,
                                    const MeasuredPaper* measured)
{
    std::vector<Quantity> quantities;
    if (const auto published = published_quantity(paper, experiments))
        quantities.push_back(*published);
    const bool has_measured = std::ranges::any_of(
        experiments, [&](const auto* experiment) { return any_measured(*experiment, measured); });
    if (has_measured && (quantities.empty() || !is_measurable(quantities.front())))
        quantities.push_back(measured_time(experiments, *measured));
    return quantities;
}

std::optional<Mark> published_mark(const Paper& paper, const Experiment& experiment, const std::string& row,
                                   const std::string& device, const Quantity& quantity)
{
    for (const auto& value : paper.published) {
        if (value.figure != experiment.figure || value.row != row || value.metric != quantity.metric ||
            value.device != device || !(value.value > 0))
            continue;
        if (value.unit == quantity.unit)
            return Mark{value.value, fmt::format("{} {}", value.value, value.unit)};
        const auto from = factor_of(value.metric, value.unit);
        const auto to = factor_of(quantity.metric, quantity.unit);
        if (!from || !to)
            continue;
        const double converted = value.value * *from / *to;
        return Mark{converted, fmt::format("{} {}", number_text(converted), quantity.unit)};
    }
    return std::nullopt;
}

std::optional<Mark> measured_mark(const MeasuredPaper* measured, const Experiment& experiment,
                                  const std::string& row, const Quantity& quantity)
{
    const auto* entry = timed_entry(measured, experiment, row);
    if (!entry)
        return std::nullopt;
    if (const auto whole = whole_of(quantity))
        return share_mark(*entry, timed_entry(measured, experiment, *whole), quantity);
    const auto factor = factor_of(quantity.metric, quantity.unit);
    if (!factor)
        return std::nullopt;
    const double base = quantity.metric == "time" ? entry->milliseconds.median * kSecondsInMillisecond
                                                  : entry->bytes_per_second;
    if (!(base > 0))
        return std::nullopt;
    return Mark{base / *factor,
                fmt::format("{} {}{}", number_text(base / *factor), quantity.unit, wrong_text(*entry))};
}

std::optional<Mark> host_clock_mark(const MeasuredPaper* measured, const Experiment& experiment,
                                    const std::string& row, const Quantity& quantity)
{
    const auto* entry = timed_entry(measured, experiment, row);
    const auto factor = factor_of(quantity.metric, quantity.unit);
    if (!entry || !factor || quantity.metric != "time" || !entry->wall_milliseconds ||
        !(entry->wall_milliseconds->median > 0))
        return std::nullopt;
    const double value = entry->wall_milliseconds->median * kSecondsInMillisecond / *factor;
    return Mark{value, fmt::format("{} {}", number_text(value), quantity.unit)};
}

}  // namespace segfold::papers
