#pragma once
// MPI, opened at run time, where this process is one of several that were started together.
#include <memory>

#include "runtime/session/scale/communicator.h"

namespace segfold {

/// The ranks among which this process was started by mpirun or by srun with PMI; null where it was started
/// alone.
///
/// MPI is set up by the first call and left at the end of the communicator's life. Throws InputError where
/// several processes were started, and this program was built without MPI or their starter is none that MPI
/// knows; DeviceError where libmpi cannot be opened or fails. One thread calls the communicator.
[[nodiscard]] std::unique_ptr<Communicator> mpi_world();

}  // namespace segfold
