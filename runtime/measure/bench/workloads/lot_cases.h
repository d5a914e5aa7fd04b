#pragma once
// Workloads by lot, and how well the plans that runs take do on them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/bench/record.h"
#include "runtime/measure/bench/workloads/cases.h"

namespace segfold::bench {

/// Number, seed and sizes of the drawn workloads.
struct Lot {
    std::int64_t count = 0;
    std::uint64_t seed = 7;
    std::int64_t from = std::int64_t{1} << 16;  ///< elements; both ends count as the power of two below them
    std::int64_t to = std::int64_t{1} << 28;
};

/// Reads "lot:100" or "lot:100,seed=3"; nothing for a text that does not begin with "lot". Throws InputError.
std::optional<Lot> parse_lot(std::string_view text);

/// Layouts by lot: `uniform` of any length up to 2^22 for two in five, else a `lot` by offsets. Elements:
/// each power of two from `from` to `to` as likely, less up to two fifths.
std::vector<Case> lot_cases(const Lot& lot);

/// The rate of the plan that a run takes, as a share of the best measured one's, for each record that has
/// both.
std::vector<double> chosen_shares(const std::vector<WorkloadRecord>& records);

/// A row for each of the records: operator and type, form, elements, segments, the longest segment and what
/// padding makes of the elements where they are known, and the share of the ceiling that each plan reached,
/// such as "tile_scan=0.46" and "tile_scan:block_threads=128;items_per_thread=8=0.51". With `titles` a line
/// before them says what stands where.
std::string print_rates(const std::vector<WorkloadRecord>& records, bool titles);

/// Geometric mean, worst and deciles of such shares, as a line or two; "" without any.
std::string print_deciles(std::vector<double> shares);

}  // namespace segfold::bench
