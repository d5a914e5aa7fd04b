#pragma once
// Thrust on the host's cores: the peers of back ends that fold in the host's memory.
#include <memory>

#include "runtime/measure/bench/peers/peers.h"

namespace segfold::bench {

/// Compiles with the system's C++ compiler and the headers of CCCL in `cccl`, else those of cccl_folder();
/// objection() says what is missing here.
[[nodiscard]] std::unique_ptr<PeerLibraries> make_host_peers(const std::filesystem::path& cccl);

}  // namespace segfold::bench
