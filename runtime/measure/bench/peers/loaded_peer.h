#pragma once
// A peer (an algorithm of CUB or Thrust), compiled and bound to a workload on a GPU.
#include <string>
#include <vector>

#include "runtime/measure/bench/peers/peer_library.h"
#include "runtime/measure/bench/peers/segment_keys.h"

namespace segfold::bench {

/// A peer that folds a workload on the GPU and writes to the workload's own result arrays.
///
/// Peers use the CUDA runtime, which shares the primary context with cuda::Context. Pointers and streams are
/// therefore valid for both.
class LoadedPeer {
public:
    /// Asks the peer how much scratch memory it needs, and allocates this memory. To answer, some peers, such
    /// as Thrust, fold once. `keys` may be null for a peer that takes none. Throws DeviceError if the peer
    /// fails.
    LoadedPeer(const cuda::Context& context, cuda::Stream& stream, const cuda::ResidentWorkload& resident,
               const std::string& name, const EmittedPeer& emitted, const PeerLibrary& library,
               const SegmentKeys* keys);

    /// Queues the fold. Thrust also waits for its end. Throws DeviceError with CUDA's message if this fails.
    void launch();

private:
    void call();

    cuda::Context context_;
    std::string name_;
    PeerLibrary library_;
    std::vector<std::byte> inputs_;
    std::vector<std::byte> results_;
    cuda::DeviceBuffer scratch_;
    PeerCall call_;
};

}  // namespace segfold::bench
