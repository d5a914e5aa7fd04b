#pragma once
// Peers for back ends that fold in host memory: Thrust on the host's cores.
#include <memory>

#include "runtime/measure/bench/peers/peers.h"

namespace segfold::bench {

/// Makes peers that the system's C++ compiler compiles with the CCCL headers in `cccl`, or in cccl_folder()
/// if `cccl` is empty. If something is missing on this machine, objection() says so.
[[nodiscard]] std::unique_ptr<PeerLibraries> make_host_peers(const std::filesystem::path& cccl);

}  // namespace segfold::bench
