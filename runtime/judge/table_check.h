#pragma once
// Checks whether the elements of a workload read tables within their lengths, and finds the first that does
// not.
#include <span>
#include <string>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold {

/// Returns the tables whose reads are not proved to be inside by the value ranges of the workload's columns,
/// tables and segments. They become a problem's `checked_tables`.
[[nodiscard]] std::vector<std::string> unproved_tables(const Workload& workload);

/// Throws InputError for the first element, in the order of the segments, that reads outside of a table.
///
/// If the ranges of the data prove nothing, the host lifts all elements, on all its threads.
void check_tables(const Workload& workload);

/// Throws InputError after a back end has noted reads outside of `tables`.
///
/// The error names the first such element. If no element reads outside on the host, where an index may be
/// computed differently, it names the tables.
[[noreturn]] void refuse_table_reads(const Workload& workload, const std::vector<std::string>& tables);

}  // namespace segfold
