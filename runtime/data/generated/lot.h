#pragma once
// Draws segment lengths at random. The seed alone determines their kind and their values.
#include <cstdint>
#include <string>
#include <vector>

namespace segfold {

/// Kinds of segment lengths that lot_lengths() draws.
enum class LotKind : std::uint8_t {
    equal,         ///< a single length from 1 to 2^22
    near_equal,    ///< lengths within an eighth of one length
    mixture,       ///< one of two lengths, at random
    power_law,     ///< lengths by a power law, unsorted
    ascending,     ///< a power law, the shortest first
    descending,    ///< a power law, the longest first
    saw_teeth,     ///< lengths rise from 1 to the longest, repeatedly
    empty_runs,    ///< runs of empty segments alternate with runs of non-empty segments
    mostly_empty,  ///< nearly all segments are empty
    bursts,        ///< runs of short segments alternate with runs of long segments
};

/// Returns the name of a kind, such as "equal".
std::string name(LotKind kind);

/// Returns the kind that a seed selects. Ten successive seeds need not give all kinds.
LotKind lot_kind(std::uint64_t seed);

/// Returns lengths that add up to `num_elements`. The last length is cut to fit.
///
/// There are at most 2^28 + 1 segments. If 2^28 segments do not cover all elements, one more segment takes
/// the remaining elements. The same seed and number of elements give the same lengths on any machine.
std::vector<std::int64_t> lot_lengths(std::uint64_t seed, std::int64_t num_elements);

}  // namespace segfold
