#pragma once
// Relations between a fold in one piece and folds in parts: slices, devices, ranks.
#include <optional>
#include <string>

#include "runtime/check/trial.h"

namespace segfold::regress {

/// Compares a fold in one piece with folds in parts on one device. For the stage that `--reproducible` runs,
/// the bits must also be the same for any number of parts.
[[nodiscard]] std::optional<Breach> attempt_slices(Trial& trial);
/// Compares a fold in one piece with folds whose parts are dealt to the setting's devices.
[[nodiscard]] std::optional<Breach> attempt_devices(Trial& trial);
/// Compares a fold in one piece with folds whose parts go to the setting's ranks. All ranks get the same
/// result.
[[nodiscard]] std::optional<Breach> attempt_ranks(Trial& trial);

/// Returns the reason why parts that are folded alone cannot be joined; empty if they can.
[[nodiscard]] std::string associativity_missing(const Setting& setting);
/// Returns the reason why the relation cannot be tried: parts cannot be joined, or the setting lacks several
/// devices or, for `ranks_missing`, several ranks. Empty if it can be tried.
[[nodiscard]] std::string other_devices_missing(const Setting& setting);
[[nodiscard]] std::string ranks_missing(const Setting& setting);

}  // namespace segfold::regress
