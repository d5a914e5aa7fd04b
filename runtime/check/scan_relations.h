#pragma once
// Relations between a scan, the fold of the same segments, and scans of their parts.
#include <optional>
#include <string>

#include "runtime/check/trial.h"

namespace segfold::regress {

/// Compares a scan's last state in each segment with the fold of the segment.
[[nodiscard]] std::optional<Breach> attempt_last_of_scan(Trial& trial);
/// Cuts segments in two and scans both parts. Combining the final state of the part scanned first with the
/// states of the other part must give the states of the uncut segment.
[[nodiscard]] std::optional<Breach> attempt_cut_scan(Trial& trial);

/// Returns the reason why an operator has no running results to test; empty if it has some.
[[nodiscard]] std::string no_running_results(const Operator& op);
/// Returns the reason why attempt_cut_scan() cannot be tried: the operator has no running results, or its
/// lift reads positions in segments. Empty if it can be tried.
[[nodiscard]] std::string no_scan_to_cut(const Operator& op);
/// Returns the reason why relations between segment results do not apply to an operator with a scan; empty if
/// the operator has no scan.
[[nodiscard]] std::string running_results(const Operator& op);

}  // namespace segfold::regress
