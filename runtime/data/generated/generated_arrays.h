#pragma once
// Arrays for the parameters that no file gives: values for columns, places for columns that index tables,
// tables.
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "dsl/operator.h"
#include "runtime/data/resolve.h"

namespace segfold {

/// The indices by which an operator reads its tables.
struct TableUse {
    std::string table;
    std::string
        index;    ///< a column, "index", "segment" or "position"; empty: an expression of some other kind
    bool always;  ///< not in a part of an expression that may be left out
};

/// Every gather of the operator, in the order of the text.
std::vector<TableUse> table_uses(const Operator& op);

/// How to generate values.
struct GenerateOptions {
    std::uint64_t seed = 7;
    ValueRange range = ValueRange::small_integers;
    std::int64_t num_features = 1;  ///< of rows
};

/// The seed of a parameter's values, of the seed of all.
std::uint64_t seed_of(const Operator& op, const std::string& parameter, std::uint64_t seed);

/// Adds the arrays that are missing; returns what they hold, by parameter: "generated uniform, seed 7",
/// "generated places of v, seed 7".
///
/// Values depend on the seed, the parameter's place and the range. A column that indexes a table holds places
/// of it, one that takes part in computing where a table is read 0 to 15 (ComputedPlaces); a table that has
/// no array is as long as what it is read by needs. Throws InputError for a table that is read at places
/// which nothing bounds.
std::map<std::string, std::string> complete_arrays(const Operator& op, const Segments& segments,
                                                   GenerateOptions options,
                                                   std::map<std::string, Array>& arrays);

/// In the order of ValueRange.
inline constexpr std::array<std::string_view, 5> kRangeNames = {"small_integers", "units", "uniform", "edge",
                                                                "near_one"};

/// "small_integers", "units", "uniform", "edge", "near_one"
std::string_view name(ValueRange range);

}  // namespace segfold
