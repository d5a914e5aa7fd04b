#pragma once
// How much memory this process may still take, and refusing in time what needs more.
#include <string>

namespace segfold {

/// Bytes: the least of what the system has available, what the control group leaves, and what the limit of
/// the address space (`ulimit -v`) leaves.
[[nodiscard]] double memory_at_hand();

/// Throws InputError where `bytes` are more than memory_at_hand(); `what` needs them, such as "5 elements".
void require_memory(double bytes, const std::string& what);

}  // namespace segfold
