#pragma once
// The memory that this process may still take, and early errors if it does not suffice.
#include <string>

namespace segfold {

/// Bytes still available: the least of the system's available memory, the rest of the control group's limit,
/// and the rest of the limit on the address space (`ulimit -v`).
[[nodiscard]] double memory_at_hand();

/// Throws InputError if `bytes` exceed memory_at_hand(). `what` needs the memory, such as "5 elements".
void require_memory(double bytes, const std::string& what);

}  // namespace segfold
