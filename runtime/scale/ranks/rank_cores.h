#pragma once
// Divides the cores of a host among its ranks.
#include <vector>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// Returns the cores of rank `place` among `count` ranks that share `cores`. Parts are equal, with at least
/// one core each.
[[nodiscard]] std::vector<int> share_of_cores(const std::vector<int>& cores, int place, int count);

/// Binds this process and its future threads to an equal part of the cores that it shares with other ranks of
/// its host. Changes nothing if the starter gave each rank its own cores. Collective.
void share_cores(Communicator& ranks);

}  // namespace segfold
