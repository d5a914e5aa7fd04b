#pragma once
// MPI, opened at run time: the processes that were started together, or those of a caller's communicator.
#include <memory>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// The ranks among which this process was started by mpirun or by srun with PMI; null where it was started
/// alone.
///
/// MPI is set up by the first call and left at the end of the communicator's life. Throws InputError where
/// several processes were started, and this program was built without MPI or their starter is none that MPI
/// knows; DeviceError where libmpi cannot be opened or fails. One thread calls the communicator.
[[nodiscard]] std::unique_ptr<Communicator> mpi_world();

/// Which of the processes this is that were started together, as their starter says without MPI; 0 where it
/// says nothing.
[[nodiscard]] int announced_rank();

/// The ranks of an MPI_Comm of the caller's, at `communicator`: `mpi_communicator(&comm)`. MPI is set up and
/// left by the caller, and so is the communicator, which must outlive this object.
///
/// Throws InputError where this library was built without MPI, DeviceError where the libmpi that it was built
/// for cannot be opened.
[[nodiscard]] std::unique_ptr<Communicator> mpi_communicator(const void* communicator);

}  // namespace segfold
