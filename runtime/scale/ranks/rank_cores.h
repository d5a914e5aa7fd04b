#pragma once
// Which of a host's cores belong to which rank.
#include <vector>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// Of the cores that `count` ranks may use, those of the one at `place`: equal parts, none without a core.
[[nodiscard]] std::vector<int> share_of_cores(const std::vector<int>& cores, int place, int count);

/// Leaves this process and the threads that it makes from now on an equal share of the cores that other ranks
/// of its host may use too; nothing changes where the starter gave each rank cores of its own. Collective.
void share_cores(Communicator& ranks);

}  // namespace segfold
