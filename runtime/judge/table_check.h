#pragma once
// Finds the first element of a workload that reads outside of a table.
#include <string>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold {

/// Returns the names of the tables whose reads must be checked because the value ranges of the data do not
/// prove all reads to be inside. The names are meant for Problem::checked_tables.
[[nodiscard]] std::vector<std::string> unproved_tables(const Workload& workload);

/// Throws InputError for the first element, in segment order, that reads outside of a table.
///
/// If the value ranges of the data do not prove all reads to be inside, lifts and maps the elements on the
/// host with all threads. If map computes table indices from results, first folds the segments in working
/// precision.
void check_tables(const Workload& workload);

/// Throws InputError after a back end has found reads outside of `tables`. The message names the first
/// element that reads outside. It names only the tables if the host finds no such element, because the host
/// may round an index differently.
[[noreturn]] void refuse_table_reads(const Workload& workload, const std::vector<std::string>& tables);

}  // namespace segfold
