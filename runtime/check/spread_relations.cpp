#include "runtime/check/spread_relations.h"

#include <fmt/format.h>

#include <algorithm>

namespace segfold::regress {
namespace {

using enum SegmentForm;

/// Returns `own` if this rank found a breach, otherwise the breach of the first rank that found one. Nothing
/// if no rank did. All ranks must call this. Without ranks, returns `own`.
std::optional<Breach> agreed(Trial& trial, std::optional<Breach> own)
{
    auto* ranks = trial.setting().ranks;
    if (ranks == nullptr)
        return own;
    const auto text = own ? own->text : std::string();
    const auto all = ranks->all_gather(std::as_bytes(std::span(text)));
    for (std::size_t rank = 0; rank < all.size() && !own; ++rank)
        if (!all[rank].empty())
            own = trial.breach(
                fmt::format("rank {} of {} alone finds: {}", rank, all.size(),
                            std::string(reinterpret_cast<const char*>(all[rank].data()), all[rank].size())));
    return own;
}

/// Returns the number of slices; for ranks, the number of elements per slice.
std::int64_t count_of(Trial& trial, Spread spread, std::int64_t num_elements)
{
    const auto slices = 2 + trial.lot(6, 15);
    if (spread == Spread::slices)
        return slices;
    const auto several = static_cast<std::int64_t>(1 + trial.setting().others.size());
    return spread == Spread::devices
               ? several + trial.lot(7, 2) * slices
               : std::max<std::int64_t>(1, num_elements / (trial.lot(7, 2) * slices + 1));
}

/// Returns segments of which some are several blocks long, and some begin and end within one block.
Segments segments_of_blocks(SegmentForm form)
{
    const std::vector<std::int64_t> lengths = {5, 3 * kJoinBlock + 77, kJoinBlock, 1, kJoinBlock + 1, 300};
    if (form != whole)
        return segments_of(form, lengths);
    std::int64_t n = 0;
    for (const auto length : lengths)
        n += length;
    return whole_segments(n);
}

/// Runs the reproducible stage in parts and in one slice, and compares the results bit for bit.
std::optional<Breach> attempt_reproducible(Trial& trial, Spread spread)
{
    if (trial.stage().name != kReproducibleStage)
        return std::nullopt;
    for (const auto form : trial.forms({whole, offsets, flags})) {
        const auto& data = trial.material(trial.setting().op, segments_of_blocks(form), "blocks");
        const auto one = trial.run_spread(data.workload, Spread::slices, 1, true);
        const auto count = count_of(trial, spread, data.workload.segments.num_elements);
        const auto parts = trial.run_spread(data.workload, spread, count, true);
        auto breach =
            trial.unequal_bits(parts, one, fmt::format("reproducibly, {}", trial.spread_text(spread, count)));
        if (breach = agreed(trial, std::move(breach)); breach)
            return breach;
    }
    return std::nullopt;
}

std::optional<Breach> attempt_spread(Trial& trial, Spread spread)
{
    const auto& op = trial.setting().op;
    for (const auto form : trial.forms({whole, uniform, offsets, ranges, flags, keys})) {
        const auto& data = trial.material(op, trial.usual_segments(form), "usual");
        if (spread == Spread::ranks && !reason_against_ranks(data.workload.segments).empty())
            continue;
        const auto in_one_piece = trial.run(data.workload);
        const auto count = count_of(trial, spread, data.workload.segments.num_elements);
        const auto results = trial.run_spread(data.workload, spread, count);
        auto breach = trial.breach(data.judge->compare(results, in_one_piece, "the run in one piece"));
        if (breach)
            breach->text = fmt::format("{}, {}", trial.spread_text(spread, count), breach->text);
        if (breach = agreed(trial, std::move(breach)); breach)
            return breach;
    }
    return attempt_reproducible(trial, spread);
}

}  // namespace

std::optional<Breach> attempt_slices(Trial& trial) { return attempt_spread(trial, Spread::slices); }
std::optional<Breach> attempt_devices(Trial& trial) { return attempt_spread(trial, Spread::devices); }
std::optional<Breach> attempt_ranks(Trial& trial) { return attempt_spread(trial, Spread::ranks); }

std::string associativity_missing(const Setting& setting)
{
    return setting.laws.associative
               ? ""
               : "combine is not associative, and what is folded apart has another result; segfold check "
                 "shows values by which it is refuted";
}

std::string other_devices_missing(const Setting& setting)
{
    if (auto reason = associativity_missing(setting); !reason.empty())
        return reason;
    return setting.others.empty() ? "one device alone is there to deal slices to" : "";
}

std::string ranks_missing(const Setting& setting)
{
    if (auto reason = associativity_missing(setting); !reason.empty())
        return reason;
    return setting.ranks == nullptr && setting.others.empty()
               ? "neither ranks are there nor several devices, of which each could stand for one"
               : "";
}

}  // namespace segfold::regress
