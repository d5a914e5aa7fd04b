#pragma once
// A peer folds the same operator with CUB or Thrust, in its own CUDA or C++ file. Benchmarks compare peers
// with stages.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/problem.h"

namespace segfold {

/// Headers of CCCL that older releases lack.
inline constexpr std::string_view kTabulateHeader = "thrust/iterator/tabulate_output_iterator.h";
inline constexpr std::string_view kSegmentedHeader = "cub/device/device_segmented_reduce.cuh";

/// An algorithm of CUB or Thrust that folds segments.
struct Peer {
    std::string_view name;     ///< "cub_segmented"
    std::string_view call;     ///< "cub::DeviceSegmentedReduce::Reduce"
    std::string_view library;  ///< "cub" or "thrust"
    std::vector<SegmentForm> forms;
    bool is_by_key = false;  ///< reads an i32 key for each element, which is the number of its segment
    bool needs_commutative = false;  ///< gives wrong results for an operator that does not commute
    std::string_view header;         ///< path of a CCCL header that the peer includes
    std::string_view header_text;    ///< text that the header must contain; empty: any text
    std::string_view system = {};    ///< "omp" or "tbb" for Thrust on the host's cores; empty for GPUs
    std::int64_t most_length = std::numeric_limits<std::int64_t>::max();  ///< most elements in a segment

    /// True if the peer folds in the host's memory.
    [[nodiscard]] bool is_of_host() const { return !system.empty(); }
};

/// All peers, in the order in which tables show them.
std::span<const Peer> peers();

/// Returns the peer called `name`. Throws InputError if there is none.
const Peer& peer(std::string_view name);

/// The reason why `peer` cannot serve `problem`, as a sentence without a full stop; none if it can.
std::optional<std::string> unmet(const Peer& peer, const Problem& problem);

/// The reason why `peer` cannot fold a segment of `longest` elements, as a sentence without a full stop; none
/// if it can.
std::optional<std::string> too_long(const Peer& peer, std::int64_t longest);

/// The text of a peer, and the arrays that its call needs.
struct EmittedPeer {
    std::string source;
    bool needs_keys = false;  ///< the call must set PeerCall::keys
    /// For peers by key, which see only segments with elements. If true, the i-th of these segments writes
    /// result i. If false, a segment writes the result of its own number.
    bool is_compacted = false;
    bool needs_run_segments = false;  ///< the call must set PeerCall::segment_of_run
};

/// The function with C linkage that every peer's text defines: `int segfold_peer(PeerCall*)`.
inline constexpr const char* kPeerFunction = "segfold_peer";

/// Writes the text of `peer` for `problem`, ready for nvcc or the host's compiler with CCCL's headers. This
/// is a pure function: the same arguments give the same bytes.
///
/// Iterators lift elements as the library reads them and finish totals as it writes them, so nothing is
/// stored in between. If lift or finish changes nothing, the library gets plain pointers; if combine is a
/// sum, it gets its own plus. The library has fast paths for both. Throws InputError if the peer cannot serve
/// the problem.
EmittedPeer emit_peer(const Problem& problem, const Peer& peer);

}  // namespace segfold
