#include "runtime/measure/bench/peers/peers.h"

#include <fmt/format.h>

#include <future>
#include <optional>

#include "dsl/error.h"
#include "runtime/backends/cuda/cuda_timing.h"
#include "runtime/measure/bench/peers/host_peers.h"
#include "runtime/measure/bench/peers/loaded_peer.h"

namespace segfold::bench {
namespace {

/// State shared by all peers of one GPU.
struct CudaPeers {
    CudaPeers(cuda::CudaTiming& used_timing, const std::filesystem::path& cccl)
        : timing(used_timing), toolkit(cccl)
    {}

    cuda::CudaTiming& timing;
    PeerToolkit toolkit;
    CompiledPeers compiled;
};

class CudaFold : public LoadedFold {
public:
    CudaFold(cuda::CudaTiming& timing, const cuda::ResidentWorkload& resident, const Peer& peer,
             const EmittedPeer& emitted, const PeerLibrary& library, const SegmentKeys* keys)
        : peer_(timing.context(), timing.stream(), resident, std::string(peer.name), emitted, library, keys)
    {
        if (!peer.is_by_key || peer.scans)
            return;  // each result is at its segment's place, each output at its element's
        if (keys == nullptr)
            throw InternalError(fmt::format("results of {} cannot be placed without the keys", peer.name));
        filled_ = keys->filled(emitted.is_compacted);
    }

    void launch() override { peer_.launch(); }
    [[nodiscard]] Filled filled() const override { return filled_; }

private:
    LoadedPeer peer_;
    Filled filled_;
};

class CudaWorkloadPeers : public WorkloadPeers {
public:
    CudaWorkloadPeers(CudaPeers& shared, const Problem& problem, PlacedWorkload& placed)
        : WorkloadPeers(problem, shared.compiled), shared_(shared), resident_(cuda::resident_of(placed))
    {}

    [[nodiscard]] std::unique_ptr<LoadedFold> load(const Peer& peer) override
    {
        const auto emitted = emit_peer(problem(), peer);
        const auto& library = compiled(emitted.source);
        auto& timing = shared_.timing;
        if (emitted.needs_keys && !keys_)
            keys_.emplace(timing.context(), timing.stream(), resident_);
        return std::make_unique<CudaFold>(timing, resident_, peer, emitted, library,
                                          keys_ ? &*keys_ : nullptr);
    }

private:
    [[nodiscard]] PeerLibrary library(const Peer& peer, const std::string& source) const override
    {
        const auto& info = shared_.timing.context().info();
        return shared_.toolkit.compile(std::string(peer.name), source,
                                       cuda::architecture_for(info.compute_major, info.compute_minor));
    }

    CudaPeers& shared_;
    cuda::ResidentWorkload& resident_;
    std::optional<SegmentKeys> keys_;
};

class CudaPeerLibraries : public PeerLibraries {
public:
    CudaPeerLibraries(cuda::CudaTiming& timing, const std::filesystem::path& cccl) : peers_(timing, cccl) {}

    [[nodiscard]] std::string description() const override
    {
        return peers_.toolkit.reason().empty() ? peers_.toolkit.description() : "no peers";
    }
    [[nodiscard]] std::string objection(const Peer& peer) const override
    {
        if (peer.is_of_host())
            return "runs on the host's cores, and the back end that is measured is a GPU";
        if (!peers_.toolkit.reason().empty())
            return peers_.toolkit.reason();
        return peers_.toolkit.missing(peer);
    }
    [[nodiscard]] bool is_of_host() const override { return false; }
    [[nodiscard]] std::unique_ptr<WorkloadPeers> over(const Problem& problem, PlacedWorkload& placed) override
    {
        return std::make_unique<CudaWorkloadPeers>(peers_, problem, placed);
    }

private:
    CudaPeers peers_;
};

}  // namespace

void WorkloadPeers::compile(std::span<const Peer* const> peers, const std::function<void()>& begins)
{
    std::map<std::string, std::future<PeerLibrary>> underway;
    for (const auto* peer : peers) {
        const auto source = emit_peer(problem_, *peer).source;
        if (compiled_.libraries.contains(source) || compiled_.failed.contains(source))
            continue;
        begins();
        underway.emplace(
            source, std::async(std::launch::async, [this, peer, source] { return library(*peer, source); }));
    }
    for (auto& [source, made] : underway) {
        try {
            compiled_.libraries.emplace(source, made.get());
        } catch (const DeviceError& error) {
            compiled_.failed.emplace(source, error.what());
        }
    }
}

PeerBuild WorkloadPeers::build(const Peer& peer) const
{
    const auto& made = compiled(emit_peer(problem_, peer).source);
    return {made.compile_seconds, made.is_compiled_before};
}

const PeerLibrary& WorkloadPeers::compiled(const std::string& source) const
{
    if (const auto failed = compiled_.failed.find(source); failed != compiled_.failed.end())
        throw DeviceError(failed->second);
    return compiled_.libraries.at(source);
}

std::unique_ptr<PeerLibraries> make_peer_libraries(Timing& timing, const std::filesystem::path& cccl)
{
    if (auto* own = dynamic_cast<cuda::CudaTiming*>(&timing))
        return std::make_unique<CudaPeerLibraries>(*own, cccl);
    return make_host_peers(cccl);
}

}  // namespace segfold::bench
