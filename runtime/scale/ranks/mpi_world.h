#pragma once
// Ranks of MPI: the processes that mpirun has started together, or a caller's communicator. libmpi is opened
// at run time.
#include <memory>

#include "runtime/scale/ranks/communicator.h"

namespace segfold {

/// Returns the ranks that mpirun, or srun with PMI, started together; null if this process was started alone.
///
/// The communicator initializes MPI, and its destructor finalizes MPI. For several processes, throws
/// InputError if this program was built without MPI or if MPI does not know the starter. Throws DeviceError
/// if libmpi cannot be opened or fails. Only one thread may call the communicator.
[[nodiscard]] std::unique_ptr<Communicator> mpi_world();

/// Returns the rank of this process from the environment variables of its starter, such as mpirun; 0 if they
/// have none. Does not call MPI.
[[nodiscard]] int announced_rank();

/// Returns the ranks of the caller's MPI_Comm at address `communicator`, as in `mpi_communicator(&comm)`. The
/// caller initializes and finalizes MPI. The MPI_Comm must outlive the result.
///
/// Throws InputError if this library was built without MPI, and DeviceError if libmpi cannot be opened.
[[nodiscard]] std::unique_ptr<Communicator> mpi_communicator(const void* communicator);

}  // namespace segfold
