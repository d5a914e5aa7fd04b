#pragma once
// Draws random workloads, and prints how well the plans of runs do on them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/bench/record.h"
#include "runtime/measure/bench/workloads/cases.h"

namespace segfold::bench {

/// Number, seed and sizes of the workloads to draw.
struct Lot {
    std::int64_t count = 0;
    std::uint64_t seed = 7;
    /// Smallest number of elements; rounded down to a power of two.
    std::int64_t from = std::int64_t{1} << 16;
    std::int64_t to = std::int64_t{1} << 28;  ///< largest number of elements; rounded down to a power of two
};

/// Parses "lot:100" or "lot:100,seed=3". Returns nothing if the text does not begin with "lot". Throws
/// InputError if it does but is malformed.
std::optional<Lot> parse_lot(std::string_view text);

/// Draws random layouts. Of five cases, on average two are `uniform` with a length up to 2^22, two are a
/// `lot` by offsets, and one has lengths from a distribution (geometric, Poisson, log-normal, or half of them
/// 0).
///
/// The number of elements is a random power of two from `from` to `to`, reduced by up to two fifths.
std::vector<Case> lot_cases(const Lot& lot);

/// Returns the chosen plan's rate divided by the best plan's rate, for each record that has both.
std::vector<double> chosen_shares(const std::vector<WorkloadRecord>& records);

/// Prints one row per record in the format of kernels/ranks/rows. A row has the machine, the operator and
/// type with their facts, form, elements, segments, longest segment, padded elements, features, and each
/// plan's share of the read ceiling.
///
/// Leaves out plans with wrong results. A share reads "tile_scan@1f3a90=0.46", where "1f3a90" are the first
/// six digits of the hash of the stage's text. Tunables may follow:
/// "tile_scan@1f3a90:block_threads=128;items_per_thread=8=0.51".
std::string print_rates(const std::vector<WorkloadRecord>& records, const MachineRecord& machine);

/// Returns the title line for the rows of print_rates().
std::string titles_of_rates();

/// Prints the geometric mean, the worst, and the deciles of chosen_shares(), in one or two lines. Empty if
/// `shares` is empty.
std::string print_deciles(std::vector<double> shares);

}  // namespace segfold::bench
