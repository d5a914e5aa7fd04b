#pragma once
// NCCL, opened at run time where it is asked for: this file is the only list of its entry points.
//
// No header of NCCL is needed, and nothing is linked. The ABI is that of nccl.h of NCCL 2, the same from 2.7
// to 2.28: enumerations are int, handles are pointers, and a unique id is 128 bytes that are passed by value.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/backends/cuda/library.h"

struct ncclComm;

namespace segfold::nccl {

/// ncclUniqueId: what one process makes and all of a communicator have.
struct UniqueId {
    char internal[128];
};
static_assert(sizeof(UniqueId) == 128);

/// ncclResult_t
enum class Result : int { success = 0 };
/// ncclDataType_t
enum class DataType : int { u8 = 1 };

/// libnccl.so.2
struct Library {
    cuda::SharedLibrary library;

    cuda::EntryPoint<Result(int*)> ncclGetVersion{library, "ncclGetVersion"};
    cuda::EntryPoint<const char*(Result)> ncclGetErrorString{library, "ncclGetErrorString"};
    cuda::EntryPoint<Result(UniqueId*)> ncclGetUniqueId{library, "ncclGetUniqueId"};
    /// The device is that of the calling thread's current context.
    cuda::EntryPoint<Result(ncclComm**, int num_ranks, UniqueId, int rank)> ncclCommInitRank{
        library, "ncclCommInitRank"};
    cuda::EntryPoint<Result(ncclComm*)> ncclCommDestroy{library, "ncclCommDestroy"};
    cuda::EntryPoint<Result()> ncclGroupStart{library, "ncclGroupStart"};
    cuda::EntryPoint<Result()> ncclGroupEnd{library, "ncclGroupEnd"};
    /// `count` is that of what one rank gives.
    cuda::EntryPoint<Result(const void* mine, void* all, std::size_t count, DataType, ncclComm*,
                            cuda::CUstream)>
        ncclAllGather{library, "ncclAllGather"};
    /// What a stand-in for NCCL has that gathers memory of the host; NCCL itself has not.
    cuda::EntryPoint<int()> segfoldGathersHostMemory{library, "segfoldGathersHostMemory",
                                                     cuda::Presence::optional};

    [[nodiscard]] bool gathers_host_memory() const { return static_cast<bool>(segfoldGathersHostMemory); }
    /// Throws DeviceError naming the call and what NCCL says of it.
    void check(Result result, const char* call) const;
    /// "2.28.3"
    [[nodiscard]] std::string version() const;
};

/// The library of the environment variable SEGFOLD_NCCL, a path, else libnccl.so.2 where the system's loader
/// looks. Opened once for each path.
///
/// Throws DeviceError saying where it was looked for, or that it is another NCCL than 2.
[[nodiscard]] const Library& library();

}  // namespace segfold::nccl
