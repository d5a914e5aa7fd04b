#pragma once
// Relations between a fold in one piece and a fold in parts. Parts are slices, devices or ranks.
#include <optional>
#include <string>

#include "runtime/check/trial.h"

namespace segfold::regress {

/// Compares a fold in one piece with folds in slices on one device. For the stage of `--reproducible`, the
/// bits must not depend on the number of slices.
[[nodiscard]] std::optional<Breach> attempt_slices(Trial& trial);
/// Compares a fold in one piece with folds in slices that are dealt out to the setting's devices.
[[nodiscard]] std::optional<Breach> attempt_devices(Trial& trial);
/// Compares a fold in one piece with folds by the setting's ranks. If one rank finds a breach, every rank
/// returns a breach.
[[nodiscard]] std::optional<Breach> attempt_ranks(Trial& trial);

/// Returns the reason why the states of parts cannot be combined; empty if they can.
[[nodiscard]] std::string associativity_missing(const Setting& setting);
/// Returns the reason why the relation cannot be tried: the states of parts cannot be combined, or the
/// setting has only one device or, for `ranks_missing`, only one rank. Empty if it can be tried.
[[nodiscard]] std::string other_devices_missing(const Setting& setting);
[[nodiscard]] std::string ranks_missing(const Setting& setting);

}  // namespace segfold::regress
