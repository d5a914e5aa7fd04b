#pragma once
// Finds the first element of a workload that reads past a table's end.
#include <string>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold {

/// Returns the names of the tables whose reads must be checked, because the value ranges of the data do not
/// prove that every read lies inside. Problem::checked_tables takes these names.
[[nodiscard]] std::vector<std::string> unproved_tables(const Workload& workload);

/// Throws InputError for the first element, in the order of the segments, that reads outside of a table.
///
/// If the value ranges of the data do not prove that every read lies inside, all threads of the host lift and
/// map the elements. If map computes indices of tables from results, the segments are folded first, in
/// working precision.
void check_tables(const Workload& workload);

/// Throws InputError after a back end has noted reads outside of `tables`. The message names the first
/// element that reads outside. The host may round an index differently; if no element reads outside there,
/// the message names the tables.
[[noreturn]] void refuse_table_reads(const Workload& workload, const std::vector<std::string>& tables);

}  // namespace segfold
