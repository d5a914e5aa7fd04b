#pragma once
// The data that a run asks for, read and generated.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dsl/laws/laws.h"
#include "dsl/layout.h"
#include "dsl/operator.h"
#include "runtime/data/resolve.h"
#include "runtime/data/workload.h"

namespace segfold {

/// The data of a run as it is asked for; nothing has been read or generated yet.
struct WorkloadRequest {
    std::map<std::string, std::string> inputs = {};   ///< parameter -> file
    std::map<std::string, std::string> scalars = {};  ///< parameter -> its value, as text
    Layout layout = {};
    std::optional<std::int64_t> num_elements = {};
    std::optional<std::int64_t> num_features = {};  ///< of generated rows; files say it themselves
    std::int64_t standard_elements =
        0;  ///< taken where neither the user, a file nor the layout says how many
    std::uint64_t seed = 7;
    ValueRange values = ValueRange::small_integers;
    std::optional<int> index_bits = {};
    bool sorts_keys = false;  ///< of the layout keys: sorts keys and columns first, stably
    /// Columns, tables and scalars that nobody gave are generated; else they are refused.
    ///
    /// Once a file or a written array gives a column, a table, a scalar or the segments, what is generated
    /// has to be asked for by name: columns and tables by a range of values, or by a number of elements where
    /// the segments alone are given; segments by the name of a generated layout.
    bool generates = true;
    bool takes_inputs = true;  ///< the verb has the flag --input, which messages may name
};

/// True where a file or a written array gives columns or tables.
[[nodiscard]] bool gives_columns(const WorkloadRequest& request);

/// "'x' comes from a file", of what a request gives first.
[[nodiscard]] std::string what_is_given(const WorkloadRequest& request);

/// Throws InputError for parameters that nobody gave and that are not to be generated: all, where
/// `request.generates` is false, and scalars beside columns that are given.
void require_given(const Operator& op, const WorkloadRequest& request,
                   const std::function<bool(const Parameter&)>& is_given);

/// The value that a scalar is given as text, an array of one: a number of its type, or true, false, inf,
/// -inf, nan. Throws InputError.
Array scalar_array(const Parameter& parameter, const std::string& text);

/// The scalars that are given as text, by name; empty where none is. Throws InputError as scalar_array()
/// does.
[[nodiscard]] ScalarValues given_scalars(const Operator& op, const std::map<std::string, std::string>& texts);

/// Throws InputError where the array that --input gives a scalar has not one value.
void require_one_value(const Parameter& scalar, const std::string& place, const Array& array);

/// True for a column that takes the values or the column numbers of a Matrix Market file: those of the names
/// `value` and `column`; of another name the only column, which takes the values.
[[nodiscard]] bool comes_with_rows(const Operator& op, const Parameter& parameter);

/// The layout with the seed, where it is a generated one that takes a seed and states none.
Layout seeded(Layout layout, std::uint64_t seed);

/// Features of generated rows: what was asked for, or 8; 1 for an operator without rows.
[[nodiscard]] std::int64_t generated_features(const Operator& op, std::optional<std::int64_t> asked);

/// A workload, and where each parameter's array came from.
struct PreparedWorkload {
    Workload workload;
    std::vector<std::string> origins;  ///< "values.npy", "A.mtx (value)", "generated units, seed 7"
    /// Where the elements stood before their keys were sorted; nothing where they are not moved.
    std::optional<Array> places = {};
};

/// Reads and generates what was asked for; the workload passes check_workload().
///
/// A generated column that indexes a table holds places of that table; a generated table is as long as its
/// indices need. Whether reads of tables lie inside is for the caller to find out. Throws InputError.
PreparedWorkload make_workload(const Operator& op, const WorkloadRequest& request);

}  // namespace segfold
