#pragma once
// A peer is an algorithm of CUB or Thrust that folds or scans the same operator as a stage, in its own CUDA
// or C++ file. Benchmarks compare the times of peers and stages.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/problem.h"

namespace segfold {

/// Paths of CCCL headers that older releases of CCCL lack.
inline constexpr std::string_view kTabulateHeader = "thrust/iterator/tabulate_output_iterator.h";
inline constexpr std::string_view kSegmentedHeader = "cub/device/device_segmented_reduce.cuh";

/// An algorithm of CUB or Thrust that folds or scans segments. A fold of groups sorts their elements first,
/// stably.
struct Peer {
    std::string_view name;     ///< "cub_segmented"
    std::string_view call;     ///< "cub::DeviceSegmentedReduce::Reduce"; of a scan, the inclusive function
    std::string_view library;  ///< "cub" or "thrust"
    std::vector<SegmentForm> forms;
    /// True if the peer reads an i32 key for each element. The key is the number of the element's segment.
    bool is_by_key = false;
    bool needs_commutative = false;  ///< true if operators that do not commute get wrong results
    std::string_view header;         ///< path of a CCCL header that the peer includes
    std::string_view header_text;    ///< text that the header must contain; may be empty
    std::string_view system = {};    ///< "omp" or "tbb" for Thrust on the host's cores; empty for GPUs
    /// Greatest length of a segment that the peer can fold.
    std::int64_t most_length = std::numeric_limits<std::int64_t>::max();
    bool scans = false;  ///< true if it gives running results of elements, false if results of segments

    /// True if the peer folds on the host's cores, with arrays in the host's memory.
    [[nodiscard]] bool is_of_host() const { return !system.empty(); }
};

/// Returns all peers, in the order in which tables show them.
std::span<const Peer> peers();

/// Returns the peer called `name`. Throws InputError if no peer has this name.
const Peer& peer(std::string_view name);

/// Returns the reason why `peer` cannot serve `problem`, as a sentence without a full stop. Returns nothing
/// if the peer can serve it.
std::optional<std::string> unmet(const Peer& peer, const Problem& problem);

/// Returns the reason why `peer` cannot fold a segment of `longest` elements, as a sentence without a full
/// stop. Returns nothing if the peer can fold it.
std::optional<std::string> too_long(const Peer& peer, std::int64_t longest);

/// The text of a peer, and the arrays that the caller must supply.
struct EmittedPeer {
    std::string source;
    bool needs_keys = false;  ///< true if the caller must set PeerCall::keys
    /// If true, result i belongs to the i-th segment that is not empty. If false, result i belongs to segment
    /// i. True for some peers by key, because these give no results for empty segments.
    bool is_compacted = false;
    bool needs_run_segments = false;  ///< true if the caller must set PeerCall::segment_of_run
    /// Number of pointers at the beginning of the struct Results that no array has. They are not read.
    std::size_t num_unkept_results = 0;
};

/// The function with C linkage that every peer's text defines: `int segfold_peer(PeerCall*)`.
inline constexpr const char* kPeerFunction = "segfold_peer";

/// Writes the text of `peer` for `problem`, ready for nvcc or the host's compiler with CCCL's headers. This
/// is a pure function: the same arguments give the same bytes.
///
/// The library gets iterators that lift an element when it is read and finish a total when it is written. So
/// states need no memory of their own. If lift or finish changes nothing, the library gets plain pointers. If
/// combine is a sum, the library gets its own plus operator. The library has fast paths for pointers and for
/// plus.
///
/// A scan is exclusive if `scan` reads the state before an element. The state with the element, if it is read
/// too, is computed where outputs are written. Throws InputError if the peer cannot serve the problem.
EmittedPeer emit_peer(const Problem& problem, const Peer& peer);

}  // namespace segfold
