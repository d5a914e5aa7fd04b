#pragma once
// The relations between a fold in one piece and folds by parts: slices, devices, ranks.
#include <optional>
#include <string>

#include "runtime/check/trial.h"

namespace segfold::regress {

/// In one piece and in parts of one device; with the stage that `--reproducible` runs, also any number of
/// parts against one, in every bit.
[[nodiscard]] std::optional<Breach> attempt_slices(Trial& trial);
/// The same where parts are dealt to the setting's devices.
[[nodiscard]] std::optional<Breach> attempt_devices(Trial& trial);
/// The same by the setting's ranks. All of them find the same.
[[nodiscard]] std::optional<Breach> attempt_ranks(Trial& trial);

/// Why parts that were folded apart cannot be joined; "" if they can.
[[nodiscard]] std::string associativity_missing(const Setting& setting);
/// The same, or why a setting has no second device or no ranks; "" if it has.
[[nodiscard]] std::string other_devices_missing(const Setting& setting);
[[nodiscard]] std::string ranks_missing(const Setting& setting);

}  // namespace segfold::regress
