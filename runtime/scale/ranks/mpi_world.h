#pragma once
// Ranks of MPI, which is opened at run time: processes that were started together, or a caller's
// communicator.
#include <memory>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// The ranks that mpirun, or srun with PMI, started together; null if this process was started alone.
///
/// The communicator sets MPI up, and leaves it at the end of its life. Throws InputError if several processes
/// were started and this program was built without MPI, or MPI does not know their starter; DeviceError if
/// libmpi cannot be opened or fails. One thread calls the communicator.
[[nodiscard]] std::unique_ptr<Communicator> mpi_world();

/// This process's number as its starter says it, without MPI; 0 if it says nothing.
[[nodiscard]] int announced_rank();

/// The ranks of the caller's MPI_Comm at `communicator`: `mpi_communicator(&comm)`. The caller sets MPI up
/// and leaves it, and the MPI_Comm must outlive this object.
///
/// Throws InputError if this library was built without MPI, DeviceError if its libmpi cannot be opened.
[[nodiscard]] std::unique_ptr<Communicator> mpi_communicator(const void* communicator);

}  // namespace segfold
