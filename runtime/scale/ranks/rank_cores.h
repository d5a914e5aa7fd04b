#pragma once
// The cores of a host, divided among its ranks.
#include <vector>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// The cores of rank `place` of `count` ranks that share `cores`: equal parts, at least one core each.
[[nodiscard]] std::vector<int> share_of_cores(const std::vector<int>& cores, int place, int count);

/// Binds this process and its future threads to an equal part of the cores that it shares with other ranks of
/// its host. Changes nothing if the starter gave each rank its own cores. Collective.
void share_cores(Communicator& ranks);

}  // namespace segfold
