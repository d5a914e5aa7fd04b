#pragma once
// Finds the first element of a workload that reads past a table's end.
#include <string>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold {

/// Returns the tables that need checks, because the ranges of the data do not prove that every read lies
/// inside: a problem's `checked_tables`.
[[nodiscard]] std::vector<std::string> unproved_tables(const Workload& workload);

/// Throws InputError for the first element, in the order of the segments, that reads outside of a table.
///
/// If the ranges of the data do not decide, all threads of the host lift and map the elements. If results
/// decide where map reads, the segments are folded first, in working precision.
void check_tables(const Workload& workload);

/// Throws InputError after a back end has noted reads outside of `tables`. The message names the first
/// element that reads outside. If no element does on the host, which may round an index differently, it names
/// the tables.
[[noreturn]] void refuse_table_reads(const Workload& workload, const std::vector<std::string>& tables);

}  // namespace segfold
