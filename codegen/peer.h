#pragma once
// Peers: the same operator folded by CUB or Thrust, as a CUDA or C++ file of its own that is measured beside
// the stages.
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
    bool is_by_key = false;          ///< reads one i32 key an element, the number of its segment
    bool needs_commutative = false;  ///< gives wrong results where the order of operands counts
    std::string_view header;         ///< a header of CCCL, from its include folder on
    std::string_view header_text;    ///< text that the header must contain; empty: it must exist
    std::string_view system = {};    ///< of Thrust on the host's cores: "omp" or "tbb"; empty: on a GPU
    std::int64_t most_length = std::numeric_limits<std::int64_t>::max();  ///< of a segment

    /// Whether it folds in the host's memory.
    [[nodiscard]] bool is_of_host() const { return !system.empty(); }
};

/// Every peer, in the order of tables.
std::span<const Peer> peers();

/// Throws InputError for an unknown name.
const Peer& peer(std::string_view name);

/// Why `peer` cannot serve `problem`, as a sentence without its end; nothing if it can.
std::optional<std::string> unmet(const Peer& peer, const Problem& problem);

/// Why `peer` cannot fold a segment of `longest` elements, as a sentence without its end; nothing if it can.
std::optional<std::string> too_long(const Peer& peer, std::int64_t longest);

/// The text of a peer, and the arrays that it needs.
struct EmittedPeer {
    std::string source;
    bool needs_keys = false;  ///< PeerCall::keys
    /// Peers by key see only the segments that have an element, and count those. True: they write the results
    /// of the i-th such segment to place i. False: to the segment's own place.
    bool is_compacted = false;
    bool needs_run_segments = false;  ///< PeerCall::segment_of_run
};

/// The name of the function with C linkage that every peer's text defines: `int segfold_peer(PeerCall*)`.
inline constexpr const char* kPeerFunction = "segfold_peer";

/// Writes the text of `peer` for `problem`, complete for nvcc, or for the host's compiler, with CCCL's
/// headers. A pure function: same arguments, same bytes.
///
/// Elements are lifted as the library reads them and totals finished as it writes them, so that nothing is
/// stored in between. A column that is lifted as it is, a result that is the state as it is, and a plain sum
/// are passed as the pointers and the plus that the library has fast paths for. Throws InputError if the peer
/// cannot serve.
EmittedPeer emit_peer(const Problem& problem, const Peer& peer);

}  // namespace segfold
