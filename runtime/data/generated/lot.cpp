#include "runtime/data/generated/lot.h"

#include <algorithm>
#include <array>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <functional>
#include <string_view>

#include "runtime/support/random.h"

namespace segfold {
namespace {

constexpr std::array<std::string_view, 10> kNames = {"equal",        "near_equal", "mixture",   "power_law",
                                                     "ascending",    "descending", "saw_teeth", "empty_runs",
                                                     "mostly_empty", "bursts"};
constexpr std::int64_t kMostSegments = std::int64_t{1} << 28;
constexpr double kManySegments = 0x1p26;  // rough bound on the number of segments if most are empty

double share(RandomSequence& sequence)
{
    boost::random::uniform_01<double> uniform;
    return uniform(sequence);
}

std::int64_t pick(RandomSequence& sequence, std::int64_t low, std::int64_t high)
{
    return boost::random::uniform_int_distribution<std::int64_t>(low, high)(sequence);
}

/// Draws a length from `low` to `high`. The logarithm of the length is uniform.
std::int64_t length_between(RandomSequence& sequence, double low, double high)
{
    return static_cast<std::int64_t>(low * std::pow(high / low, share(sequence)));
}

/// A function that draws the length of segment number `place`.
using PlaceDraw = std::function<std::int64_t(RandomSequence& sequence, std::int64_t place)>;

PlaceDraw power_law(RandomSequence& sequence, std::int64_t num_elements)
{
    const double exponent = 0.8 + 1.2 * share(sequence);
    const auto least = static_cast<double>(length_between(sequence, 1, 16));
    const auto most = static_cast<double>(std::max<std::int64_t>(num_elements / 64, 1));
    return [=](RandomSequence& own, std::int64_t) {
        return static_cast<std::int64_t>(std::min(least * std::pow(1.0 - share(own), -1.0 / exponent), most));
    };
}

/// Alternates runs of two kinds of segments. A run has 64 to 8192 segments.
PlaceDraw in_turn(RandomSequence& sequence, PlaceDraw first, PlaceDraw second)
{
    const auto run = length_between(sequence, 64, 8192);
    return [=](RandomSequence& own, std::int64_t place) {
        return place / run % 2 == 0 ? first(own, place) : second(own, place);
    };
}

PlaceDraw around(std::int64_t length)
{
    return [=](RandomSequence& own, std::int64_t) {
        return pick(own, length - length / 2, length + length / 2);
    };
}

PlaceDraw choose_draw(LotKind kind, RandomSequence& sequence, std::int64_t num_elements)
{
    const auto none = [](RandomSequence&, std::int64_t) { return std::int64_t{0}; };
    switch (kind) {
        case LotKind::equal:
            return [length = length_between(sequence, 1, 4194305)](RandomSequence&, std::int64_t) {
                return length;
            };
        case LotKind::near_equal: {
            const auto length = length_between(sequence, 2, 16384);
            const auto spread = std::max<std::int64_t>(length / 8, 1);
            return [=](RandomSequence& own, std::int64_t) {
                return pick(own, length - spread + 1, length + spread);
            };
        }
        case LotKind::mixture: {
            const auto shorter = length_between(sequence, 1, 64),
                       longer = length_between(sequence, 64, 65536);
            const double chance = std::pow(0.5, 1.0 + 9.0 * share(sequence));
            return [=](RandomSequence& own, std::int64_t) { return share(own) < chance ? longer : shorter; };
        }
        case LotKind::saw_teeth: {
            const auto longest = length_between(sequence, 4, 4096);
            return [=](RandomSequence&, std::int64_t place) { return 1 + place % longest; };
        }
        case LotKind::empty_runs: return in_turn(sequence, around(length_between(sequence, 1, 512)), none);
        case LotKind::mostly_empty: {
            const double filled = 0.005 + 0.1 * share(sequence);
            // Nonempty segments are long enough to bound the number of empty segments.
            const double scarce = static_cast<double>(num_elements) / (filled * kManySegments);
            const auto drawn = static_cast<double>(length_between(sequence, 1, 512));
            const auto others = around(static_cast<std::int64_t>(std::max({8.0, drawn, scarce})));
            return [=](RandomSequence& own, std::int64_t place) {
                return share(own) < filled ? others(own, place) : std::int64_t{0};
            };
        }
        case LotKind::bursts:
            return in_turn(sequence, around(length_between(sequence, 1, 16)),
                           around(length_between(sequence, 128, 16384)));
        default: return power_law(sequence, num_elements);
    }
}

}  // namespace

std::string name(LotKind kind) { return std::string(kNames[static_cast<std::size_t>(kind)]); }

LotKind lot_kind(std::uint64_t seed)
{
    return static_cast<LotKind>(RandomSequence::derive_seed(seed, 0) % kNames.size());
}

std::vector<std::int64_t> lot_lengths(std::uint64_t seed, std::int64_t num_elements)
{
    const auto kind = lot_kind(seed);
    RandomSequence sequence(RandomSequence::derive_seed(seed, 1));
    const auto draw = choose_draw(kind, sequence, num_elements);
    std::vector<std::int64_t> lengths;
    for (std::int64_t left = num_elements, place = 0; left > 0; ++place) {
        const bool is_crowded = place >= kMostSegments;
        const auto length = is_crowded ? left : std::min(draw(sequence, place), left);
        lengths.push_back(length);
        left -= length;
    }
    // The last length is cut before sorting, so that it is in order too.
    if (kind == LotKind::ascending)
        std::ranges::sort(lengths);
    if (kind == LotKind::descending)
        std::ranges::sort(lengths, std::greater<>());
    return lengths;
}

}  // namespace segfold
