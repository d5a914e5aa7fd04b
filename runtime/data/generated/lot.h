#pragma once
// Segment lengths by lot: a seed alone decides their kind and size.
#include <cstdint>
#include <string>
#include <vector>

namespace segfold {

/// The kinds of lengths that a lot is drawn from.
enum class LotKind : std::uint8_t {
    equal,         ///< one length from 1 to 2^22
    near_equal,    ///< a length, give or take an eighth
    mixture,       ///< two lengths, by chance
    power_law,     ///< in the order in which they are drawn
    ascending,     ///< a power law, the shortest first
    descending,    ///< a power law, the longest first
    saw_teeth,     ///< lengths that grow evenly to a longest one, again and again
    empty_runs,    ///< runs of empty segments between runs of others
    mostly_empty,  ///< nearly all segments are empty
    bursts,        ///< runs of short segments between runs of long ones
};

/// "equal", "near_equal", ...
std::string name(LotKind kind);

/// The kind that a seed stands for; ten seeds in a row need not meet all of them.
LotKind lot_kind(std::uint64_t seed);

/// Lengths that add up to `num_elements`, the last one cut to fit. No more than 2^28 segments: where most
/// would be empty, long segments take what is left.
///
/// The same seed and number of elements give the same lengths on any machine.
std::vector<std::int64_t> lot_lengths(std::uint64_t seed, std::int64_t num_elements);

}  // namespace segfold
