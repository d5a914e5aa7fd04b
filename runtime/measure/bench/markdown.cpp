#include "runtime/measure/bench/markdown.h"

#include <fmt/format.h>

#include <bit>

namespace segfold::bench {
namespace {

constexpr double kGigabyte = 1e9;

std::string share(const Entry* entry)
{
    return entry == nullptr ? "-" : fmt::format("{:.2f}", entry->fraction);
}

std::string row(bool with_operators, const std::string& op, const std::string& rest)
{
    return with_operators ? fmt::format("| {} {}\n", op, rest) : rest + "\n";
}

}  // namespace

std::string element_text(std::int64_t count)
{
    const auto bits = static_cast<std::uint64_t>(count);
    return count >= 1024 && std::has_single_bit(bits) ? fmt::format("2^{}", std::countr_zero(bits))
                                                      : std::to_string(count);
}

std::string markdown_header(const MachineRecord& machine)
{
    return fmt::format("{}{}, {}, {}, {}; read ceiling {:.0f} GB/s.\n", machine.device, driver_text(machine),
                       machine.compiler, machine.library, machine.date, machine.ceiling / kGigabyte);
}

std::string markdown_titles(bool with_operators)
{
    return row(with_operators, "operator",
               "| workload | elements | stage | of ceiling | best peer | of ceiling | times as fast |") +
           row(with_operators, "---", "| --- | ---: | --- | ---: | --- | ---: | ---: |");
}

std::string markdown_row(const WorkloadRecord& record, bool with_operators)
{
    const auto* ours = record.chosen();
    const auto* theirs = record.best_peer();
    const auto ratio = record.speed_up();
    return row(
        with_operators, record.op,
        fmt::format("| `{}` | {} | {}{} | {} | {} | {} | {} |", record.layout,
                    element_text(record.num_elements), ours ? ours->name : "-",
                    ours && !ours->agreement.agrees ? " (wrong results)" : "", share(ours),
                    theirs ? theirs->name : "-", share(theirs), ratio ? fmt::format("{:.2f}", *ratio) : "-"));
}

std::string markdown_mean(std::span<const WorkloadRecord> records, bool with_operators)
{
    std::vector<double> ratios, ours, theirs;
    for (const auto& record : records)
        if (const auto ratio = record.speed_up()) {
            ratios.push_back(*ratio);
            ours.push_back(record.chosen()->fraction);
            theirs.push_back(record.best_peer()->fraction);
        }
    if (ratios.empty())
        return "";
    return row(with_operators, "",
               fmt::format("| geometric mean of {} | | | {:.2f} | | {:.2f} | {:.2f} |", ratios.size(),
                           geometric_mean(ours), geometric_mean(theirs), geometric_mean(ratios)));
}

}  // namespace segfold::bench
