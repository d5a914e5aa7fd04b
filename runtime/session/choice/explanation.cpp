#include "runtime/session/choice/explanation.h"

#include <fmt/format.h>

#include "runtime/support/rate_text.h"

namespace segfold {
namespace {

constexpr std::size_t kMostListedRecords = 5;

double bytes_per_second(std::int64_t bytes, double milliseconds)
{
    return static_cast<double>(bytes) / (milliseconds / 1e3);
}

/// Returns the first lines of a list as text, and then the number of omitted lines.
template <class Range, class Text>
std::string lines(const Range& range, Text text)
{
    std::string all;
    std::size_t shown = 0;
    for (const auto& one : range)
        if (++shown <= kMostListedRecords)
            all += (all.empty() ? "" : "\n") + text(one);
    return shown > kMostListedRecords ? fmt::format("{}\nand {} more", all, shown - kMostListedRecords) : all;
}

}  // namespace

std::int64_t scratch_bytes_of(const Emitted& emitted, const Workload& workload, int num_multiprocessors)
{
    return scratch_bytes_of(emitted, sizes_of(workload.segments, workload.num_features), num_multiprocessors);
}

std::int64_t scratch_bytes_of(const Emitted& emitted, const SegmentSizes& sizes, int num_multiprocessors)
{
    std::int64_t bytes = 0;
    for (const auto& buffer : plan_launches(emitted, sizes, num_multiprocessors).scratch)
        bytes += buffer.bytes;
    return bytes;
}

std::vector<std::pair<std::string, std::string>> explain(const Explanation& explanation)
{
    const auto& lookup = explanation.lookup;
    std::vector<std::pair<std::string, std::string>> facts = {{"plan", explanation.taken},
                                                              {"lookup", std::string(name(lookup.match))},
                                                              {"why", lookup.reason},
                                                              {"rule of thumb", explanation.rule}};
    if (!explanation.expected.empty())
        facts.insert(facts.end(), {{"expected", explanation.expected}, {"nearest", explanation.nearest}});
    if (!explanation.resized.empty())
        facts.emplace_back("resized", explanation.resized);
    if (!explanation.without_identity.empty())
        facts.emplace_back("identity", "left out: " + explanation.without_identity);
    if (!lookup.record.empty())
        facts.emplace_back("record", lookup.record);
    if (!lookup.considered.empty())
        facts.emplace_back("considered", lines(lookup.considered, [](const Considered& one) {
                               return fmt::format("{:.4g} ms  {}  ({})", one.milliseconds, print(one.point),
                                                  one.why);
                           }));
    if (!lookup.ignored.empty())
        facts.emplace_back("ignored", lines(lookup.ignored, [](const std::string& text) { return text; }));
    const auto& traffic = explanation.traffic;
    facts.emplace_back(
        "bytes", fmt::format("{} at least: {} of columns, {} of the layout, {} of results", traffic.total(),
                             traffic.columns, traffic.layout, traffic.results));
    if (explanation.scratch_bytes > 0)
        facts.emplace_back("scratch", fmt::format("{} bytes beside the arrays", explanation.scratch_bytes));
    if (const auto predicted = lookup.predicted_milliseconds)
        facts.emplace_back("predicted",
                           fmt::format("{:.4g} ms, {} GB/s", *predicted,
                                       gigabytes_text(bytes_per_second(traffic.total(), *predicted))));
    if (explanation.on_host)
        facts.emplace_back(
            "left out",
            fmt::format(
                "scratch memory, which is counted on a GPU alone{}",
                lookup.predicted_milliseconds ? "" : ", and a time, which only a tuning record predicts"));
    return facts;
}

}  // namespace segfold
