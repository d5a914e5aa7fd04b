#pragma once
// A compiled peer bound to a workload on a GPU.
#include <string>
#include <vector>

#include "runtime/measure/bench/peers/peer_library.h"
#include "runtime/measure/bench/peers/segment_keys.h"

namespace segfold::bench {

/// A peer that folds a workload on the GPU into the workload's own result arrays.
///
/// Peers use CUDA's runtime, which works in the primary context, as cuda::Context does; both share pointers
/// and streams.
class LoadedPeer {
public:
    /// Asks the peer for the size of its scratch memory, and allocates this memory. Some peers, such as
    /// Thrust, fold once to answer. `keys` may be null if the peer needs none. Throws DeviceError if the peer
    /// fails.
    LoadedPeer(const cuda::Context& context, cuda::Stream& stream, const cuda::ResidentWorkload& resident,
               const std::string& name, const EmittedPeer& emitted, const PeerLibrary& library,
               const SegmentKeys* keys);

    /// Queues the fold; Thrust also waits for its end. If this fails, throws DeviceError with CUDA's message.
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
