#include "runtime/measure/bench/peers/host_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "dsl/error.h"
#include "runtime/backends/host_timing.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/data/groups.h"
#include "runtime/measure/bench/peers/cccl.h"
#include "runtime/support/processes/host_compiler.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/visit_type.h"

namespace segfold::bench {
namespace {

/// The compiler, the headers, and the peers compiled so far.
struct HostLibraries {
    std::vector<std::string> compiler;  ///< command line of the C++ compiler; empty if there is none
    std::filesystem::path cccl;         ///< folder of headers; empty if there is none
    std::string reason;                 ///< reason why nothing can be compiled; empty if peers can be
    CompiledPeers compiled;

    explicit HostLibraries(const std::filesystem::path& named)
    {
        try {
            compiler = find_host_compiler("peers");
        } catch (const DeviceError& error) {
            reason = error.what();
        }
        cccl = named.empty() ? cccl_folder() : named;
        if (cccl.empty())
            reason = "there are no headers of CCCL; set SEGFOLD_TOOLKIT to a CUDA toolkit";
    }

    [[nodiscard]] PeerLibrary compile(const Peer& peer, const std::string& source) const
    {
        auto command = compiler;
        for (const std::string word :
             {"-x", "c++", "-std=c++20", "-O3", "-march=native", "-w", "-shared", "-fPIC",
              "-fvisibility=hidden", "-DTHRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP"})
            command.push_back(word);
        command.push_back(peer.system == "omp" ? "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP"
                                               : "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_TBB");
        command.push_back("-isystem" + cccl.string());
        return compile_peer(std::string(peer.name), source, command,
                            {peer.system == "omp" ? "-fopenmp" : "-ltbb"});
    }
};

/// Segments as keys for peers by key: the segment of each element, and the list of non-empty segments.
struct HostKeys {
    explicit HostKeys(const Segments& segments)
    {
        if (segments.num_segments > std::numeric_limits<std::int32_t>::max())
            throw InputError(
                fmt::format("{} segments are more than keys of i32 can count", segments.num_segments));
        keys.resize(static_cast<std::size_t>(segments.num_elements));
        if (segments.form == SegmentForm::groups) {
            visit_integers(segments.numbers, [&](auto numbers) {
                std::ranges::transform(numbers, keys.begin(), [](auto number) {
                    return std::cmp_less(number, 0) ? -1 : static_cast<std::int32_t>(number);
                });
            });
            const auto lengths = lengths_of_groups(segments);
            for (std::size_t group = 0; group < lengths.size(); ++group)
                if (lengths[group] != 0)
                    runs.push_back(static_cast<std::int32_t>(group));
            return;
        }
        parallel_for(segments.num_segments, 4096, [&](std::int64_t begin, std::int64_t end) {
            for (auto s = begin; s < end; ++s)
                std::fill(keys.begin() + segments.begin(s), keys.begin() + segments.end(s),
                          static_cast<std::int32_t>(s));
        });
        for (std::int64_t s = 0; s < segments.num_segments; ++s)
            if (segments.length(s) != 0)
                runs.push_back(static_cast<std::int32_t>(s));
    }

    std::vector<std::int32_t> keys;  ///< segment of each element; negative for an element of no group
    std::vector<std::int32_t> runs;  ///< indices of non-empty segments, ascending
};

class HostFold : public LoadedFold {
public:
    /// `keys` may be null if the peer needs none.
    HostFold(const HostWorkload& placed, const Peer& peer, const EmittedPeer& emitted,
             const PeerLibrary& library, const HostKeys* keys)
        : library_(library), name_(peer.name)
    {
        const auto addresses = [](const auto& arrays) {
            std::vector<std::uint64_t> all;
            for (const auto& array : arrays)
                all.push_back(reinterpret_cast<std::uint64_t>(array.data()));
            return all;
        };
        const auto& segments = placed.workload.segments;
        inputs_ = pack_pointers(addresses(placed.workload.arrays));
        std::vector<std::uint64_t> results;
        for (const auto& named : placed.results)
            results.push_back(reinterpret_cast<std::uint64_t>(named.array.data()));
        results_ = pack_peer_results(emitted, results);
        call_.inputs = inputs_.data();
        call_.results = results_.data();
        call_.offsets = segments.form == SegmentForm::offsets ? segments.offsets.data() : nullptr;
        if (emitted.needs_keys) {
            call_.keys = keys->keys.data();
            call_.segment_of_run = keys->runs.data();
        }
        if (!peer.scans)
            filled_ = {.is_by_key = true,
                       .is_compacted = emitted.is_compacted,
                       .num_runs = std::ssize(keys->runs),
                       .places = reinterpret_cast<std::uint64_t>(keys->runs.data()),
                       .places_on_host = [keys] { return keys->runs; }};
        call_.num_elements = segments.num_elements;
        call_.num_segments = segments.num_segments;
        call_.segment_length = length_range(segments).longest;
    }

    void launch() override
    {
        if (const int error = library_.fold(&call_); error != 0)
            throw DeviceError(fmt::format("{}: {}", name_, library_.error_text(error)));
    }
    [[nodiscard]] Filled filled() const override { return filled_; }

private:
    PeerLibrary library_;
    std::string name_;
    Filled filled_;
    std::vector<std::byte> inputs_, results_;
    PeerCall call_;
};

class HostWorkloadPeers : public WorkloadPeers {
public:
    HostWorkloadPeers(HostLibraries& shared, const Problem& problem, PlacedWorkload& placed)
        : WorkloadPeers(problem, shared.compiled), shared_(shared), placed_(placed)
    {}

    [[nodiscard]] std::unique_ptr<LoadedFold> load(const Peer& peer) override
    {
        const auto emitted = emit_peer(problem(), peer);
        const auto& library = compiled(emitted.source);
        const auto placed = host_workload_of(placed_);
        if (emitted.needs_keys && !keys_)
            keys_.emplace(placed.workload.segments);
        return std::make_unique<HostFold>(placed, peer, emitted, library, keys_ ? &*keys_ : nullptr);
    }

private:
    [[nodiscard]] PeerLibrary library(const Peer& peer, const std::string& source) const override
    {
        return shared_.compile(peer, source);
    }

    HostLibraries& shared_;
    PlacedWorkload& placed_;
    std::optional<HostKeys> keys_;
};

class HostPeers : public PeerLibraries {
public:
    explicit HostPeers(const std::filesystem::path& cccl) : shared_(cccl) {}

    [[nodiscard]] std::string description() const override
    {
        return shared_.reason.empty() ? cccl_description(shared_.cccl) : "no peers";
    }
    [[nodiscard]] std::string objection(const Peer& peer) const override
    {
        if (!peer.is_of_host())
            return "runs on a GPU, and the back end that is measured uses none";
        if (!shared_.reason.empty())
            return shared_.reason;
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(shared_.cccl / peer.header, ignored))
            return fmt::format("{} has no {}", description(), peer.header);
        return "";
    }
    [[nodiscard]] bool is_of_host() const override { return true; }
    [[nodiscard]] std::unique_ptr<WorkloadPeers> over(const Problem& problem, PlacedWorkload& placed) override
    {
        return std::make_unique<HostWorkloadPeers>(shared_, problem, placed);
    }

private:
    HostLibraries shared_;
};

}  // namespace

std::unique_ptr<PeerLibraries> make_host_peers(const std::filesystem::path& cccl)
{
    return std::make_unique<HostPeers>(cccl);
}

}  // namespace segfold::bench
