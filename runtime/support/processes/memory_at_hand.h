#pragma once
// Memory that this process may still allocate. Reports an error early if it is too little.
#include <string>

namespace segfold {

/// Returns the number of bytes that are still available: the least of the system's available memory, the
/// unused part of the control group's limit, and the unused part of the limit on the address space (`ulimit
/// -v`).
[[nodiscard]] double memory_at_hand();

/// Throws InputError if `bytes` exceed memory_at_hand(). `what` begins the message, such as "5 elements".
void require_memory(double bytes, const std::string& what);

}  // namespace segfold
