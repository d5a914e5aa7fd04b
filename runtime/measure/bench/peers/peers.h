#pragma once
// The peers: libraries that are measured beside stages, on any back end.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "codegen/peer.h"
#include "runtime/backends/timing.h"
#include "runtime/measure/bench/peers/peer_library.h"

namespace segfold::bench {

/// A peer bound to a workload in the back end's memory. The peer writes the workload's result arrays.
class LoadedFold {
public:
    virtual ~LoadedFold() = default;
    /// Starts the fold once. Throws DeviceError if it cannot be started.
    virtual void launch() = 0;
    /// The places of the result arrays that the peer fills.
    [[nodiscard]] virtual Filled filled() const = 0;
};

/// The compilation of a peer.
struct PeerBuild {
    double seconds = 0;
    /// True if an earlier compilation was loaded; `seconds` is then the time of that compilation.
    bool is_compiled_before = false;
};

/// The outcome of compiling peers. The key of both maps is the peer's text.
struct CompiledPeers {
    std::map<std::string, PeerLibrary> libraries;
    std::map<std::string, std::string> failed;  ///< errors of texts that do not compile
};

/// Compiles peers for one workload, and binds them to it.
class WorkloadPeers {
public:
    /// Both arguments must outlive this object.
    WorkloadPeers(const Problem& problem, CompiledPeers& compiled) : problem_(problem), compiled_(compiled) {}
    virtual ~WorkloadPeers() = default;

    /// Compiles the peers that are not compiled yet, in parallel. Calls `begins` before each compilation.
    void compile(std::span<const Peer* const> peers, const std::function<void()>& begins);
    /// Returns how a peer was compiled. Throws DeviceError if it does not compile.
    [[nodiscard]] PeerBuild build(const Peer& peer) const;
    /// Binds a peer to the workload. Throws DeviceError if the peer does not compile or fails.
    [[nodiscard]] virtual std::unique_ptr<LoadedFold> load(const Peer& peer) = 0;

protected:
    /// Compiles or loads the library of a peer's text. Several threads call this at once.
    [[nodiscard]] virtual PeerLibrary library(const Peer& peer, const std::string& source) const = 0;
    /// Returns the library that compile() made of a text. Throws DeviceError if the text does not compile.
    [[nodiscard]] const PeerLibrary& compiled(const std::string& source) const;
    [[nodiscard]] const Problem& problem() const { return problem_; }

private:
    const Problem& problem_;
    CompiledPeers& compiled_;
};

/// The libraries of one back end, with their compiled peers.
class PeerLibraries {
public:
    virtual ~PeerLibraries() = default;
    /// Returns a text such as "CCCL 3.0.1"; "no peers" if none can be compiled.
    [[nodiscard]] virtual std::string description() const = 0;
    /// Returns the reason why this machine cannot measure the peer for any problem; "" if it can.
    [[nodiscard]] virtual std::string objection(const Peer& peer) const = 0;
    /// True if the peers fold in host memory.
    [[nodiscard]] virtual bool is_of_host() const = 0;
    /// Returns the peers for one workload. The arguments and this object must outlive them.
    [[nodiscard]] virtual std::unique_ptr<WorkloadPeers> over(const Problem& problem,
                                                              PlacedWorkload& placed) = 0;
};

/// Returns the peers of a back end. If `timing` is that of a GPU, they are CUB and Thrust, compiled by nvcc.
/// Otherwise they are Thrust on the host's cores, compiled by the system's compiler. `cccl` is the folder of
/// the CCCL headers. If it is empty, the folder is $SEGFOLD_CCCL, or else a toolkit's.
///
/// `timing` must outlive the result. Throws InputError if named headers do not exist or require a newer nvcc.
[[nodiscard]] std::unique_ptr<PeerLibraries> make_peer_libraries(Timing& timing,
                                                                 const std::filesystem::path& cccl = {});

}  // namespace segfold::bench
