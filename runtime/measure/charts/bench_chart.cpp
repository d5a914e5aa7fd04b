#include "runtime/measure/charts/bench_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "runtime/measure/bench/markdown.h"
#include "runtime/measure/charts/chart.h"

namespace segfold::charts {
namespace {

using bench::Entry;
using bench::Outcome;
using bench::WorkloadRecord;

constexpr std::size_t kFewestSizes = 3;  ///< with fewer sizes, bars are drawn instead of lines
constexpr std::string_view kPlan = "the plan of a run", kStages = "other stages", kPeers = "peers",
                           kBestPeer = "best peer";

/// Converts entries to marks of a chart, all in one quantity.
class Marker {
public:
    explicit Marker(std::span<const WorkloadRecord> records)
        : has_ceiling_(std::ranges::any_of(records, [](const WorkloadRecord& record) {
              return std::ranges::any_of(record.entries,
                                         [](const Entry& entry) { return entry.fraction > 0; });
          }))
    {}

    [[nodiscard]] std::string axis() const
    {
        return has_ceiling_ ? "share of the memory's read rate" : "rate, GB/s";
    }

    /// Returns the mark of an entry; nothing if the entry has no time. If `named` is true, the mark's text
    /// has the entry's name.
    [[nodiscard]] std::optional<Mark> mark(const Entry* entry, bool named) const
    {
        if (!entry || entry->outcome != Outcome::measured || !(entry->bytes_per_second > 0))
            return std::nullopt;
        const double value = has_ceiling_ ? entry->fraction : entry->bytes_per_second / 1e9;
        return Mark{
            value,
            fmt::format("{}, {:.4g} ms{}{}{}",
                        has_ceiling_ ? fmt::format("{:.2f}", value) : fmt::format("{:.4g} GB/s", value),
                        entry->milliseconds.median, named ? ", " : "", named ? entry->name : "",
                        entry->agreement.agrees ? "" : ", wrong results")};
    }

private:
    bool has_ceiling_;
};

std::string workload_text(const WorkloadRecord& record, bool with_size)
{
    return fmt::format(
        "{} of {}, {}{}", record.op, name(record.element_type), record.layout,
        with_size ? fmt::format(", {} elements", bench::element_text(record.num_elements)) : "");
}

bool has_marks(const Series& series)
{
    return std::ranges::any_of(series.marks, [](const auto& mark) { return mark.has_value(); });
}

std::optional<Json> bars_of_one(const WorkloadRecord& record, const std::string& machine)
{
    const Marker marker({&record, 1});
    BarChart chart{workload_text(record, true), machine, marker.axis(), {}, {}, {}};
    chart.series = {{std::string(kPlan), {}, kOrange},
                    {std::string(kStages), {}, kBlue},
                    {std::string(kPeers), {}, kGrey}};
    for (const auto& entry : record.entries) {
        const auto mark = marker.mark(&entry, false);
        if (!mark)
            continue;
        chart.rows.push_back(entry.name + (entry.configuration.empty() ? "" : " " + entry.configuration));
        for (auto& series : chart.series)
            series.marks.emplace_back();
        chart.series[entry.is_peer ? 2 : entry.is_chosen ? 0 : 1].marks.back() = mark;
    }
    std::erase_if(chart.series, [](const Series& series) { return !has_marks(series); });
    return chart.series.empty() ? std::nullopt : std::optional(vega_lite(chart));
}

/// True if the workloads differ only in their number of elements and are sorted by it.
bool are_sizes(std::span<const WorkloadRecord> records)
{
    return records.size() >= kFewestSizes &&
           std::ranges::adjacent_find(records, [](const WorkloadRecord& a, const WorkloadRecord& b) {
               return a.op != b.op || a.element_type != b.element_type || a.layout != b.layout ||
                      a.num_elements >= b.num_elements;
           }) == records.end();
}

}  // namespace

std::optional<Json> bench_chart(std::span<const WorkloadRecord> records, const std::string& machine)
{
    if (records.size() == 1)
        return bars_of_one(records.front(), machine);
    const Marker marker(records);
    std::vector<Series> series = {{std::string(kPlan), {}, kOrange}, {std::string(kBestPeer), {}, kGrey}};
    for (const auto& record : records) {
        series[0].marks.push_back(marker.mark(record.chosen(), true));
        series[1].marks.push_back(marker.mark(record.best_peer(), true));
    }
    std::erase_if(series, [](const Series& one) { return !has_marks(one); });
    if (series.empty())
        return std::nullopt;
    if (are_sizes(records)) {
        LineChart chart{workload_text(records.front(), false), "", marker.axis(), "elements", {}, {}, {}};
        for (const auto& record : records) {
            chart.sizes.push_back(record.num_elements);
            chart.size_texts.push_back(bench::element_text(record.num_elements));
        }
        chart.panels.push_back({machine, std::move(series)});
        return vega_lite(chart);
    }
    const auto& first = records.front();
    const bool same_operator = std::ranges::all_of(records, [&](const WorkloadRecord& record) {
        return record.op == first.op && record.element_type == first.element_type;
    });
    const bool same_size = std::ranges::all_of(records, [&](const WorkloadRecord& record) {
        return bench::element_text(record.num_elements) == bench::element_text(first.num_elements);
    });
    BarChart chart;
    chart.title = same_operator ? fmt::format("{} of {}", first.op, name(first.element_type)) : "workloads";
    if (same_size)
        chart.title += fmt::format(", {} elements", bench::element_text(first.num_elements));
    chart.subtitle = machine;
    chart.axis = marker.axis();
    for (const auto& record : records) {
        chart.rows.push_back(same_operator ? record.layout : workload_text(record, false));
        if (!same_size)
            chart.rows.back() += ", " + bench::element_text(record.num_elements);
        chart.notes.emplace_back("not measured");
    }
    chart.series = std::move(series);
    return vega_lite(chart);
}

}  // namespace segfold::charts
