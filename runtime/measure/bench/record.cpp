#include "runtime/measure/bench/record.h"

#include <algorithm>

namespace segfold::bench {
namespace {

const Entry* fastest(const std::vector<Entry>& entries, bool among_peers)
{
    const Entry* best = nullptr;
    for (const auto& entry : entries)
        if (entry.is_peer == among_peers && entry.outcome == Outcome::measured && entry.agreement.agrees &&
            (best == nullptr || entry.milliseconds.median < best->milliseconds.median))
            best = &entry;
    return best;
}

}  // namespace

std::string driver_text(const MachineRecord& machine)
{
    return machine.driver.empty() ? "" : ", driver for CUDA " + machine.driver;
}

std::string_view name(Outcome outcome) { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }

const Entry* WorkloadRecord::chosen() const
{
    const auto found = std::ranges::find_if(
        entries, [](const Entry& entry) { return entry.is_chosen && entry.outcome == Outcome::measured; });
    return found == entries.end() ? nullptr : &*found;
}

const Entry* WorkloadRecord::best_stage() const { return fastest(entries, false); }

const Entry* WorkloadRecord::best_peer() const { return fastest(entries, true); }

std::optional<double> WorkloadRecord::speed_up() const
{
    const auto* ours = chosen();
    const auto* theirs = best_peer();
    if (ours == nullptr || theirs == nullptr || !ours->agreement.agrees || ours->milliseconds.median <= 0)
        return std::nullopt;
    return theirs->milliseconds.median / ours->milliseconds.median;
}

bool WorkloadRecord::agrees() const
{
    return std::ranges::all_of(entries, [](const Entry& entry) { return entry.agreement.agrees; });
}

}  // namespace segfold::bench
