#include "runtime/measure/bench/workloads/lot_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "codegen/order/stage_order.h"
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

/// Returns a random number in [0, 1), uniformly distributed.
double share(RandomSequence& sequence) { return static_cast<double>(sequence() >> 11) * 0x1p-53; }

/// Returns a random layout whose segment lengths follow a distribution with a mean from 2 to 512.
std::string distribution_by_lot(RandomSequence& sequence)
{
    constexpr std::array<std::string_view, 5> kKinds = {"geometric", "geometric", "poisson", "lognormal",
                                                        "half_empty"};
    const auto kind = kKinds[static_cast<std::size_t>(kKinds.size() * share(sequence))];
    const double mean = std::exp2(1 + 8 * share(sequence));
    if (kind != "lognormal")
        return fmt::format("{}:mean={}", kind, std::lround(mean));
    // Standard deviation of the logarithm, whose mean is log(mean) - kSigma^2 / 2.
    constexpr double kSigma = 1.2;
    return fmt::format("lognormal:mean={:.2f},sigma={}", std::max(0.1, std::log(mean) - kSigma * kSigma / 2),
                       kSigma);
}

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
        const auto kind = share(sequence);
        // Lengths are from 1 to the number of elements, at most 2^22.
        const double longest = std::min(std::log2(static_cast<double>(elements)), 22.0);
        const auto length = static_cast<std::int64_t>(std::exp2(longest * share(sequence)));
        constexpr double kUniform = 0.4, kLot = 0.8;
        auto layout = fmt::format("lot:seed={}", sequence() >> 32);
        if (kind < kUniform) {
            elements = elements / length * length;
            layout = fmt::format("uniform={}", length);
        } else if (kind >= kLot)
            layout = distribution_by_lot(sequence);
        cases.push_back({parse_layout(layout), elements});
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

std::string titles_of_rates()
{
    std::string text = "date,device,driver,compiler,operator";
    for (const auto& [fact, is_logarithm] : kRowFacts)
        text += fmt::format(",{}", fact);
    return text + ",form,elements,segments,longest,padded,features,rates\n";
}

std::string print_rates(const std::vector<WorkloadRecord>& records, const MachineRecord& machine)
{
    constexpr std::size_t kDigits = 6;  // number of hash digits to print
    std::string text;
    for (const auto& record : records) {
        std::string rates;
        for (const auto& entry : record.entries) {
            if (entry.is_peer || entry.is_host || entry.outcome != Outcome::measured ||
                !entry.agreement.agrees)
                continue;
            const auto colon = std::min(entry.name.find(':'), entry.name.size());
            auto settings = entry.name.substr(colon);
            std::ranges::replace(settings, ',', ';');  // a comma would separate columns
            rates += fmt::format(" {}@{}{}={:.4g}", entry.name.substr(0, colon),
                                 entry.stage_hash.substr(0, kDigits), settings, entry.fraction);
        }
        if (rates.empty())
            continue;
        text += fmt::format("{},{},{},{},{}_{}", machine.date, machine.device, machine.driver,
                            machine.compiler, record.op, name(record.element_type));
        for (const auto fact : record.facts)
            text += fmt::format(",{}", fact);
        text += fmt::format(",{},{},{},{},{},{},{}\n", name(record.form), record.num_elements,
                            record.num_segments, record.longest_length, record.padded_elements,
                            record.num_features, rates.substr(1));
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
