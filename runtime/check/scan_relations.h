#pragma once
// The relations of running results: to the fold, and to running results of parts.
#include <optional>
#include <string>

#include "runtime/check/trial.h"

namespace segfold::regress {

/// Compares the state with the last element that a scan visits in a segment with the fold of the segment.
[[nodiscard]] std::optional<Breach> attempt_last_of_scan(Trial& trial);
/// Cuts segments in two, and scans the parts: states of the part that is visited later, joined with the last
/// one of the other part, must be those of the uncut segment.
[[nodiscard]] std::optional<Breach> attempt_cut_scan(Trial& trial);

/// Returns why an operator has no running results to try; empty if it has some.
[[nodiscard]] std::string no_running_results(const Operator& op);
/// The same, also of operators whose states depend on where segments begin.
[[nodiscard]] std::string no_scan_to_cut(const Operator& op);
/// Returns why running results of two launches may have other bits; empty if they have the same.
[[nodiscard]] std::string same_bits_missing(const Setting& setting);
/// Returns why a relation of results of segments does not try running results; empty for a fold.
[[nodiscard]] std::string running_results(const Operator& op);

}  // namespace segfold::regress
