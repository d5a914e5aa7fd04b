#pragma once
// Generates arrays for parameters without a file. They are values for columns and tables, and valid indices
// for columns that index tables.
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "dsl/operator.h"
#include "runtime/data/resolve.h"

namespace segfold {

/// A read of a table by an operator.
struct TableUse {
    std::string table;
    std::string index;  ///< a column, "index", "segment" or "position"; else empty
    bool always;        ///< true if every element makes the read
};

/// Returns every read of a table, in the order of the text.
std::vector<TableUse> table_uses(const Operator& op);

/// Rules for generating values.
struct GenerateOptions {
    std::uint64_t seed = 7;
    ValueRange range = ValueRange::small_integers;
    std::int64_t num_features = 1;  ///< number of features in a row
};

/// Returns the seed of a parameter's values, derived from the common seed `seed`.
std::uint64_t seed_of(const Operator& op, const std::string& parameter, std::uint64_t seed);

/// Generates the missing arrays. Returns the name of each generated parameter with a description, such as
/// "generated uniform, seed 7" or "generated places of v, seed 7".
///
/// Values depend on the seed, the parameter's number and the range. A column that indexes a table has valid
/// indices of the table. A column from which an index is computed has integers from 0 to at most 15 (see
/// ComputedPlaces). A missing table gets an entry for each of its indices. Throws InputError if the indices
/// of a missing table have no bound.
std::map<std::string, std::string> complete_arrays(const Operator& op, const Segments& segments,
                                                   GenerateOptions options,
                                                   std::map<std::string, Array>& arrays);

/// The names of the values of ValueRange, in order.
inline constexpr std::array<std::string_view, 5> kRangeNames = {"small_integers", "units", "uniform", "edge",
                                                                "near_one"};

/// Returns the name of a range, such as "small_integers" or "edge".
std::string_view name(ValueRange range);

}  // namespace segfold
