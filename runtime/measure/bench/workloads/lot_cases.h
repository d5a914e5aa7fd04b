#pragma once
// Draws random workloads, and rates the plans that runs take on them.
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
    std::int64_t from = std::int64_t{1} << 16;  ///< least number of elements, rounded down to a power of two
    std::int64_t to = std::int64_t{1} << 28;  ///< largest number of elements, rounded down to a power of two
};

/// Reads "lot:100" or "lot:100,seed=3". Returns nothing if the text does not begin with "lot". Throws
/// InputError if a text that does is malformed.
std::optional<Lot> parse_lot(std::string_view text);

/// Draws random layouts. On average, two of five cases are `uniform` of any length up to 2^22, two are a
/// `lot` by offsets, and one has lengths from a distribution (geometric, Poisson, log-normal, half of them
/// empty).
///
/// The number of elements is a random power of two from `from` to `to`, reduced by up to two fifths.
std::vector<Case> lot_cases(const Lot& lot);

/// Returns the rate of the chosen plan / the rate of the best plan, for each record that has both rates.
std::vector<double> chosen_shares(const std::vector<WorkloadRecord>& records);

/// Prints one row per record, in the format of kernels/ranks/rows: the machine, operator and type with its
/// facts, form, elements, segments, longest segment, padded elements, features, and each plan's share of the
/// ceiling.
///
/// Plans with wrong results are left out. Shares read "tile_scan@1f3a90=0.46", where six digits of the hash
/// of the stage's text follow its name, or "tile_scan@1f3a90:block_threads=128;items_per_thread=8=0.51".
std::string print_rates(const std::vector<WorkloadRecord>& records, const MachineRecord& machine);

/// Returns the title line for the rows of print_rates().
std::string titles_of_rates();

/// Prints geometric mean, worst and deciles of chosen_shares() in one or two lines; "" if `shares` is empty.
std::string print_deciles(std::vector<double> shares);

}  // namespace segfold::bench
