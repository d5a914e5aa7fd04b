#pragma once
// The libraries that stages are compared with, for any back end.
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "codegen/peer.h"
#include "runtime/backends/timing.h"

namespace segfold::bench {

/// A peer bound to a placed workload, whose result arrays it writes.
class LoadedFold {
public:
    virtual ~LoadedFold() = default;
    /// Starts the fold once. Throws DeviceError.
    virtual void launch() = 0;
    /// Which places of the result arrays the fold fills.
    [[nodiscard]] virtual Filled filled() const = 0;
};

/// Time and origin of a compiled peer.
struct PeerBuild {
    double seconds = 0;
    bool is_compiled_before = false;  ///< loaded from an earlier compilation; the time is of that one
};

/// The peers over one workload.
class WorkloadPeers {
public:
    virtual ~WorkloadPeers() = default;
    /// Compiles, in parallel, those peers that are not compiled yet; calls `begins` first if there are any.
    virtual void compile(std::span<const Peer* const> peers, const std::function<void()>& begins) = 0;
    /// Returns how the peer was compiled. Throws DeviceError if it does not compile.
    [[nodiscard]] virtual PeerBuild build(const Peer& peer) = 0;
    /// Throws DeviceError if the peer does not compile or fails.
    [[nodiscard]] virtual std::unique_ptr<LoadedFold> load(const Peer& peer) = 0;
};

/// The libraries of one back end, with their compiled peers.
class PeerLibraries {
public:
    virtual ~PeerLibraries() = default;
    /// Version such as "CCCL 3.0.1"; "no peers" if none can be compiled.
    [[nodiscard]] virtual std::string description() const = 0;
    /// Returns why a peer cannot be measured here for any problem; empty if it can.
    [[nodiscard]] virtual std::string objection(const Peer& peer) const = 0;
    /// Whether the peers fold in host memory.
    [[nodiscard]] virtual bool is_of_host() const = 0;
    /// Returns the peers for one workload. This object and both arguments must outlive them.
    [[nodiscard]] virtual std::unique_ptr<WorkloadPeers> over(const Problem& problem,
                                                              PlacedWorkload& placed) = 0;
};

/// Makes the peers that fit a back end.
///
/// If `timing` is that of a GPU, nvcc compiles CUB and Thrust; otherwise the system's compiler compiles
/// Thrust for the host's cores. Headers are those in `cccl`; if it is empty, those that $SEGFOLD_CCCL names,
/// else a toolkit's.
///
/// `timing` must outlive the result. Throws InputError if named headers are missing or require a newer nvcc.
[[nodiscard]] std::unique_ptr<PeerLibraries> make_peer_libraries(Timing& timing,
                                                                 const std::filesystem::path& cccl = {});

}  // namespace segfold::bench
