#pragma once
// The check of one memory access: bounds, initialisation, races.
#include <cstddef>
#include <cstdint>

#include "runtime/simt/execution/worker.h"

namespace segfold::simt {

/// An access of the running thread.
struct Access {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
    const void* site = nullptr;
    bool reads = false;
    bool writes = false;
    bool strong = false;  ///< through an atomic function or `volatile`
};

/// Does not return when the access is outside of all memory that the running thread may use.
void check_bounds(Worker& worker, const Access& access);

/// Checks an access that is about to happen; does not return when it is a fault.
///
/// Returns the place of its first word; no cell when the memory is not shadowed: a thread's own local
/// variables, the text's constants and global variables, and everything in a launch without the shadow check.
Place check_access(Worker& worker, const Access& access);

}  // namespace segfold::simt
