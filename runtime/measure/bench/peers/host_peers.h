#pragma once
// Peers for back ends that fold in host memory: Thrust on the host's cores.
#include <memory>

#include "runtime/measure/bench/peers/peers.h"

namespace segfold::bench {

/// Makes peers that the system's C++ compiler compiles. `cccl` is the folder of the CCCL headers; if empty,
/// cccl_folder() is used. If a compiler or headers are missing, objection() says so.
[[nodiscard]] std::unique_ptr<PeerLibraries> make_host_peers(const std::filesystem::path& cccl);

}  // namespace segfold::bench
