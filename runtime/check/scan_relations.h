#pragma once
// Relations that running results must have to the fold, and to the running results of parts.
#include <optional>
#include <string>

#include "runtime/check/trial.h"

namespace segfold::regress {

/// Compares a scan's last state in each segment with the fold of the segment.
[[nodiscard]] std::optional<Breach> attempt_last_of_scan(Trial& trial);
/// Cuts segments in two and scans the parts. The states of the part scanned second, combined with the last
/// state of the first part, must equal the states of the uncut segment.
[[nodiscard]] std::optional<Breach> attempt_cut_scan(Trial& trial);

/// Returns the reason why an operator has no running results to try; empty if it has some.
[[nodiscard]] std::string no_running_results(const Operator& op);
/// Returns the reason why scans of cut segments cannot be tried: the operator has no running results, or its
/// lift reads places in segments. Empty if they can be tried.
[[nodiscard]] std::string no_scan_to_cut(const Operator& op);
/// Returns the reason why a relation between results of segments cannot be tried for an operator with a scan;
/// empty if the operator has no scan.
[[nodiscard]] std::string running_results(const Operator& op);

}  // namespace segfold::regress
