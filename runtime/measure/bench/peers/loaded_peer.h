#pragma once
// A compiled peer bound to a workload on a GPU.
#include <string>
#include <vector>

#include "runtime/measure/bench/peers/peer_library.h"
#include "runtime/measure/bench/peers/segment_keys.h"

namespace segfold::bench {

/// A peer that folds a resident workload into the workload's own result arrays.
///
/// CUDA's runtime, which peers are built on, works in the primary context, which is that of cuda::Context:
/// pointers and streams mean the same on both sides.
class LoadedPeer {
public:
    /// Asks the peer how much scratch memory it needs and allocates it; `keys` may be null where it needs
    /// none. Whether the peer folds in order to answer is its own affair (Thrust does). Throws DeviceError.
    LoadedPeer(const cuda::Context& context, cuda::Stream& stream, const cuda::ResidentWorkload& resident,
               const std::string& name, const EmittedPeer& emitted, const PeerLibrary& library,
               const SegmentKeys* keys);

    /// Queues the fold; Thrust waits for its end. Throws DeviceError with what CUDA says.
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
