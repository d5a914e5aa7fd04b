#pragma once
// Reads and generates the data for a run.
#include <functional>
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

/// A request for the data of a run. Nothing has been read or generated yet.
struct WorkloadRequest {
    std::map<std::string, std::string> inputs = {};   ///< parameter -> file
    std::map<std::string, std::string> scalars = {};  ///< parameter -> text of its value
    Layout layout = {};
    std::optional<std::int64_t> num_elements = {};
    std::optional<std::int64_t> num_features = {};  ///< features in generated rows; files give their own
    /// Number of elements if neither the user, nor the files, nor the layout determine one.
    std::int64_t standard_elements = 0;
    std::uint64_t seed = 7;
    ValueRange values = ValueRange::small_integers;
    std::optional<int> index_bits = {};
    bool sorts_keys = false;  ///< sorts keys and columns by key first, stably; for layout keys
    /// If true, missing columns, tables and scalars are generated; if false, they are an error.
    ///
    /// Once a file or a written array gives a column, a table, a scalar or the segments, other data are
    /// generated only on request. Columns and tables are requested by a range of values, or by a number of
    /// elements if only the segments are given. Segments are requested by the name of a generated layout.
    bool generates = true;
    /// Changes the segments before arrays are generated for them. If empty, the segments do not change.
    std::function<Segments(Segments)> recast = {};
    /// Returns true if a kernel folds the elements of groups unsorted. If it returns false or is empty, the
    /// elements are sorted by group.
    std::function<bool(const Operator& op, const Segments& groups)> takes_groups = {};
    bool takes_inputs = true;  ///< true if the verb has a flag --input; messages may then mention the flag
};

/// True if a file or a written array gives columns or tables.
[[nodiscard]] bool gives_columns(const WorkloadRequest& request);

/// Describes the first array that a request gives, such as "'x' comes from a file".
[[nodiscard]] std::string what_is_given(const WorkloadRequest& request);

/// Throws InputError if a parameter is missing but must not be generated. If `request.generates` is false, no
/// parameter may be generated. If columns are given, no scalar may be generated.
void require_given(const Operator& op, const WorkloadRequest& request,
                   const std::function<bool(const Parameter&)>& is_given);

/// Reads a scalar's value into an array of one element. The text is a number of the scalar's type, or true,
/// false, inf, -inf or nan. Throws InputError if the type has no such value.
Array scalar_array(const Parameter& parameter, const std::string& text);

/// Reads the scalars that are given as text; the result is empty if there are none. Throws InputError like
/// scalar_array().
[[nodiscard]] ScalarValues given_scalars(const Operator& op, const std::map<std::string, std::string>& texts);

/// Throws InputError if the array that --input gives to a scalar does not have exactly one value.
void require_one_value(const Parameter& scalar, const std::string& place, const Array& array);

/// True if the column takes the values or the column numbers of a Matrix Market file. Such a column is called
/// `value` or `column`; a single column of another name takes the values.
[[nodiscard]] bool comes_with_rows(const Operator& op, const Parameter& parameter);

/// Sets the seed of a generated layout. Does nothing if the layout states a seed or needs none.
Layout seeded(Layout layout, std::uint64_t seed);

/// Returns the number of features in generated rows: `asked`, or 8 if it is empty; 1 for an operator without
/// rows.
[[nodiscard]] std::int64_t generated_features(const Operator& op, std::optional<std::int64_t> asked);

/// A workload with the origin of each parameter's array.
struct PreparedWorkload {
    Workload workload;
    std::vector<std::string> origins;  ///< such as "values.npy", "A.mtx (value)" or "generated units, seed 7"
    /// Original positions of the elements, if they were sorted by key or group; else empty.
    std::optional<Array> places = {};
};

/// Reads and generates the requested data. The workload passes check_workload().
///
/// A generated column that indexes a table has valid indices of the table; a generated table is long enough
/// for its indices. Other reads of tables are unchecked, so the caller must check them. Throws InputError if
/// data cannot be read, or do not fit the operator or each other.
PreparedWorkload make_workload(const Operator& op, const WorkloadRequest& request);

}  // namespace segfold
