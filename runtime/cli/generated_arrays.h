#pragma once
// Arrays for the parameters that no file gives: values for columns, places for columns that index tables,
// tables.
#include <cstdint>
#include <map>
#include <string>

#include "dsl/operator.h"
#include "runtime/workload.h"

namespace segfold::cli {

/// What an operator reads its tables by.
struct TableUse {
    std::string table;
    std::string
        index;    ///< a column, "index", "segment" or "position"; empty: an expression of some other kind
    bool always;  ///< not in a part of an expression that may be left out
};

/// Every gather of the operator, in the order of the text.
std::vector<TableUse> table_uses(const Operator& op);

/// Adds the arrays that are missing.
///
/// Values depend on the seed, the parameter's place and the range. A column that indexes a table holds places
/// of it; a table that has no array is as long as what it is read by needs. Throws InputError for a table
/// whose length cannot be told, because its index is computed.
void complete_arrays(const Operator& op, const Segments& segments, std::uint64_t seed, ValueRange range,
                     std::map<std::string, Array>& arrays);

/// Throws InputError for the first element of a column that points outside of the table that it always
/// indexes.
void check_table_places(const Operator& op, const std::map<std::string, Array>& arrays);

}  // namespace segfold::cli
