#pragma once
// Divides the cores of a host among its ranks.
#include <vector>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// Returns the cores for rank `place` of `count` ranks that share `cores`. The numbers of cores of two ranks
/// differ by at most one. Each rank gets at least one core, so ranks share cores if there are more ranks than
/// cores.
[[nodiscard]] std::vector<int> share_of_cores(const std::vector<int>& cores, int place, int count);

/// Binds this process and its future threads to an equal part of the cores that it shares with other ranks of
/// its host. Changes nothing if the starter gave each rank its own cores. Collective.
void share_cores(Communicator& ranks);

}  // namespace segfold
