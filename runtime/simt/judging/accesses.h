#pragma once
// Checks one memory access for bounds, initialisation and races.
#include <cstddef>
#include <cstdint>

#include "runtime/simt/execution/worker.h"

namespace segfold::simt {

/// A memory access of the running thread.
struct Access {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
    const void* site = nullptr;
    bool reads = false;
    bool writes = false;
    bool strong = false;  ///< made by an atomic function or through `volatile`
};

/// Fails the launch, and does not return, if the access lies outside of all memory that the running thread
/// may use.
void check_bounds(Worker& worker, const Access& access);

/// Checks an access that is about to happen. If the access is a fault, fails the launch and does not return.
///
/// Returns the shadow cell of the access's first word. The result has no cell for memory without a shadow:
/// local variables of a thread, constants and global variables of the text, and all memory in a launch
/// without the shadow check.
Place check_access(Worker& worker, const Access& access);

}  // namespace segfold::simt
