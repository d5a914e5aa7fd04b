#pragma once
// The libraries that stages are measured beside, on whichever back end.
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

/// A peer bound to a placed workload, whose result arrays it writes.
class LoadedFold {
public:
    virtual ~LoadedFold() = default;
    /// Starts the fold once. Throws DeviceError.
    virtual void launch() = 0;
    /// Which places it fills.
    [[nodiscard]] virtual Filled filled() const = 0;
};

/// How a peer was compiled.
struct PeerBuild {
    double seconds = 0;
    bool is_compiled_before = false;  ///< taken from an earlier compilation, with its time
};

/// Peers that were compiled, by their texts.
struct CompiledPeers {
    std::map<std::string, PeerLibrary> libraries;
    std::map<std::string, std::string> failed;  ///< why a text does not compile
};

/// The peers over one workload.
class WorkloadPeers {
public:
    /// All must outlive this object.
    WorkloadPeers(const Problem& problem, CompiledPeers& compiled) : problem_(problem), compiled_(compiled) {}
    virtual ~WorkloadPeers() = default;

    /// Compiles those that are not compiled yet, side by side; calls `begins` before each.
    void compile(std::span<const Peer* const> peers, const std::function<void()>& begins);
    /// Throws DeviceError for a peer that does not compile.
    [[nodiscard]] PeerBuild build(const Peer& peer) const;
    /// Throws DeviceError for a peer that does not compile, or that fails.
    [[nodiscard]] virtual std::unique_ptr<LoadedFold> load(const Peer& peer) = 0;

protected:
    /// The library of a peer's text; called from several threads at once.
    [[nodiscard]] virtual PeerLibrary library(const Peer& peer, const std::string& source) const = 0;
    /// The library that compile() has made of a text. Throws DeviceError if the text does not compile.
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
    /// "CCCL 3.0.1"; "no peers" where none can be compiled.
    [[nodiscard]] virtual std::string description() const = 0;
    /// Why a peer cannot be measured here, whatever the problem; "" if it can.
    [[nodiscard]] virtual std::string objection(const Peer& peer) const = 0;
    /// Whether they fold in the host's memory.
    [[nodiscard]] virtual bool is_of_host() const = 0;
    /// All must outlive the result.
    [[nodiscard]] virtual std::unique_ptr<WorkloadPeers> over(const Problem& problem,
                                                              PlacedWorkload& placed) = 0;
};

/// CUB and Thrust by nvcc where `timing` is a GPU's; elsewhere Thrust on the host's cores by the system's
/// compiler. The headers are those in `cccl`; empty: those that $SEGFOLD_CCCL names, else a toolkit's.
///
/// `timing` must outlive what is returned. Throws InputError for named headers that are not there or that
/// refuse nvcc.
[[nodiscard]] std::unique_ptr<PeerLibraries> make_peer_libraries(Timing& timing,
                                                                 const std::filesystem::path& cccl = {});

}  // namespace segfold::bench
