#include "runtime/measure/bench/workloads/lot_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "dsl/error.h"
#include "dsl/integer_text.h"
#include "runtime/support/random.h"
#include "runtime/support/statistics.h"

namespace segfold::bench {
namespace {

constexpr std::string_view kPrefix = "lot:";
constexpr std::int64_t kMostCases = 100000;

std::int64_t number_from(std::string_view text, std::string_view digits, std::int64_t least,
                         std::int64_t most)
{
    const auto value = parse_integer(digits);
    if (!value || *value < least || *value > most)
        throw InputError(
            fmt::format("--sweep {}: '{}' is not a number from {} to {}; write lot:N or "
                        "lot:N,seed=S, such as lot:100,seed=3",
                        text, digits, least, most));
    return *value;
}

/// Returns a random number from 0 to below 1, uniformly distributed.
double share(RandomSequence& sequence) { return static_cast<double>(sequence() >> 11) * 0x1p-53; }

}  // namespace

std::optional<Lot> parse_lot(std::string_view text)
{
    if (!text.starts_with("lot"))
        return std::nullopt;
    Lot lot;
    const auto comma = text.find(',');
    const auto count = text.substr(0, comma);
    lot.count =
        number_from(text, count.starts_with(kPrefix) ? count.substr(kPrefix.size()) : "", 1, kMostCases);
    if (comma != std::string_view::npos) {
        const auto rest = text.substr(comma + 1);
        constexpr std::string_view seed = "seed=";
        lot.seed = static_cast<std::uint64_t>(number_from(
            text, rest.starts_with(seed) ? rest.substr(seed.size()) : rest, 0, std::int64_t{1} << 53));
    }
    return lot;
}

std::vector<Case> lot_cases(const Lot& lot)
{
    std::vector<Case> cases;
    const auto power_of = [](std::int64_t elements) {
        return std::bit_width(static_cast<std::uint64_t>(elements)) - 1;
    };
    const int lowest = power_of(lot.from), num_powers = power_of(lot.to) - lowest + 1;
    for (std::int64_t i = 0; i < lot.count; ++i) {
        RandomSequence sequence(RandomSequence::derive_seed(lot.seed, static_cast<std::uint64_t>(i)));
        const auto power = lowest + static_cast<int>(num_powers * share(sequence));
        auto elements = std::max(static_cast<std::int64_t>(std::ldexp(1.0 - 0.4 * share(sequence), power)),
                                 std::int64_t{1});
        const bool is_uniform = share(sequence) < 0.4;
        // Lengths range from 1 to the number of elements, but at most 2^22.
        const double longest = std::min(std::log2(static_cast<double>(elements)), 22.0);
        const auto length = static_cast<std::int64_t>(std::exp2(longest * share(sequence)));
        if (is_uniform)
            elements = elements / length * length;
        cases.push_back({parse_layout(is_uniform ? fmt::format("uniform={}", length)
                                                 : fmt::format("lot:seed={}", sequence() >> 32)),
                         elements});
    }
    return cases;
}

std::vector<double> chosen_shares(const std::vector<WorkloadRecord>& records)
{
    std::vector<double> shares;
    for (const auto& record : records) {
        double chosen = 0, best = 0;
        for (const auto& entry : record.entries) {
            if (entry.is_peer || entry.is_host || entry.outcome != Outcome::measured)
                continue;
            best = std::max(best, entry.bytes_per_second);
            if (entry.is_chosen)
                chosen = entry.bytes_per_second;
        }
        if (chosen > 0)
            shares.push_back(chosen / best);
    }
    return shares;
}

std::string print_rates(const std::vector<WorkloadRecord>& records, const std::string& device, bool titles)
{
    std::string text =
        titles ? "device,operator,element_bytes,state_bytes,combine_cost,commutative,gathers,form,"
                 "elements,segments,longest,padded,rates\n"
               : "";
    for (const auto& record : records) {
        std::string rates;
        for (const auto& entry : record.entries) {
            if (entry.is_peer || entry.is_host || entry.outcome != Outcome::measured)
                continue;
            auto plan = entry.name;
            std::ranges::replace(plan, ',', ';');  // separates the plan's settings
            rates += fmt::format(" {}={:.4g}", plan, entry.fraction);
        }
        if (!rates.empty())
            text += fmt::format(
                "{},{}_{},{},{},{},{},{},{},{},{},{},{},{}\n", device, record.op, name(record.element_type),
                record.facts.element_bytes, record.facts.state_bytes, record.facts.combine_cost,
                record.facts.commutative, record.facts.gathers, name(record.form), record.num_elements,
                record.num_segments, record.longest_length, record.padded_elements, rates.substr(1));
    }
    return text;
}

std::string print_deciles(std::vector<double> shares)
{
    if (shares.empty())
        return "";
    std::ranges::sort(shares);
    auto text =
        fmt::format("\nchosen / best stage over {} workloads: geometric mean {:.3f}, worst {:.3f}\ndeciles",
                    shares.size(), geometric_mean(shares), shares.front());
    for (std::size_t k = 1; k < 10; ++k)
        text += fmt::format(" {:.3f}", shares[(shares.size() - 1) * k / 10]);
    return text + "\n";
}

}  // namespace segfold::bench
