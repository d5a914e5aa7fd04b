#pragma once
// Peers: algorithms of other libraries that are measured beside stages, on any back end.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "codegen/peers/peer.h"
#include "runtime/backends/timing.h"
#include "runtime/measure/bench/peers/peer_library.h"

namespace segfold::bench {

/// A peer bound to a workload in the back end's memory. It writes to the workload's result arrays.
class LoadedFold {
public:
    virtual ~LoadedFold() = default;
    /// Starts the fold once. Throws DeviceError if it cannot start.
    virtual void launch() = 0;
    /// Describes which entries of the result arrays the peer writes.
    [[nodiscard]] virtual Filled filled() const = 0;
};

/// Facts about the compilation of a peer.
struct PeerBuild {
    double seconds = 0;
    /// True if an earlier compilation was loaded. `seconds` is then the time of that compilation.
    bool is_compiled_before = false;
};

/// Compiled peers, and errors. Both maps are keyed by the peer's source text.
struct CompiledPeers {
    std::map<std::string, PeerLibrary> libraries;
    std::map<std::string, std::string> failed;  ///< errors of source texts that do not compile
};

/// Compiles peers for one workload, and binds them to it.
class WorkloadPeers {
public:
    /// Both arguments must outlive this object.
    WorkloadPeers(const Problem& problem, CompiledPeers& compiled) : problem_(problem), compiled_(compiled) {}
    virtual ~WorkloadPeers() = default;

    /// Compiles, in parallel, the peers that are not compiled yet. Calls `begins` before each compilation.
    void compile(std::span<const Peer* const> peers, const std::function<void()>& begins);
    /// Returns facts about a peer's compilation. Throws DeviceError if it failed.
    [[nodiscard]] PeerBuild build(const Peer& peer) const;
    /// Binds a peer to the workload. Throws DeviceError if the peer does not compile or fails.
    [[nodiscard]] virtual std::unique_ptr<LoadedFold> load(const Peer& peer) = 0;

protected:
    /// Compiles or loads the library of a peer with the source text `source`. Must be safe for use by several
    /// threads at once.
    [[nodiscard]] virtual PeerLibrary library(const Peer& peer, const std::string& source) const = 0;
    /// Returns the library that compile() made from a source text. Throws DeviceError if the text does not
    /// compile.
    [[nodiscard]] const PeerLibrary& compiled(const std::string& source) const;
    [[nodiscard]] const Problem& problem() const { return problem_; }

private:
    const Problem& problem_;
    CompiledPeers& compiled_;
};

/// The peers of one back end, and their compiled libraries.
class PeerLibraries {
public:
    virtual ~PeerLibraries() = default;
    /// Returns the version of the libraries, such as "CCCL 3.0.1"; "no peers" if none can be compiled.
    [[nodiscard]] virtual std::string description() const = 0;
    /// Returns the reason why this machine cannot measure the peer at all; empty if it can.
    [[nodiscard]] virtual std::string objection(const Peer& peer) const = 0;
    /// True if the peers fold in host memory.
    [[nodiscard]] virtual bool is_of_host() const = 0;
    /// Returns the peers for one workload. The arguments and this object must outlive the result.
    [[nodiscard]] virtual std::unique_ptr<WorkloadPeers> over(const Problem& problem,
                                                              PlacedWorkload& placed) = 0;
};

/// Returns the peers of a back end. If `timing` times a GPU, they are CUB and Thrust, compiled by nvcc.
/// Otherwise they are Thrust on the host's cores, compiled by the system's compiler.
///
/// `cccl` is the folder of the CCCL headers. If it is empty, the headers of $SEGFOLD_CCCL or else of a
/// toolkit are used. `timing` must outlive the result. Throws InputError if the named headers do not exist or
/// require a newer nvcc.
[[nodiscard]] std::unique_ptr<PeerLibraries> make_peer_libraries(Timing& timing,
                                                                 const std::filesystem::path& cccl = {});

}  // namespace segfold::bench
