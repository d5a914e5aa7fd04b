#pragma once
// Compiles a peer's source text to a shared library with nvcc or the host's compiler.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "codegen/peers/peer.h"

namespace segfold::bench {

/// Arguments of a peer's function. The emitted text defines the same struct (kernels/vocabulary/peer.cuh).
struct PeerCall {
    const void* inputs = nullptr;
    const void* results = nullptr;
    const void* begins = nullptr;
    const void* offsets = nullptr;
    const int* keys = nullptr;
    int* unique_keys = nullptr;
    int* num_runs = nullptr;
    const int* segment_of_run = nullptr;
    long long num_elements = 0;
    long long num_segments = 0;
    long long segment_length = 0;  ///< length of the longest segment
    void* scratch = nullptr;
    std::size_t scratch_bytes = 0;
    void* stream = nullptr;
};

/// A compiled peer. Its code stays loaded until the process ends.
struct PeerLibrary {
    int (*fold)(PeerCall*) = nullptr;
    const char* (*error_text)(int) = nullptr;
    double compile_seconds = 0;
    /// True if the library was compiled earlier and stored. `compile_seconds` is then the time of that
    /// compilation.
    bool is_compiled_before = false;
};

/// The CUDA toolkit that compiles peers.
class PeerToolkit {
public:
    /// Searches toolkit_folders() for nvcc. The headers are those in `cccl`, else in $SEGFOLD_CCCL, else in
    /// the toolkit. Throws InputError if the named headers are missing or require a newer nvcc.
    explicit PeerToolkit(const std::filesystem::path& cccl = {});

    /// Sentence with the reason why no peer can be compiled; empty if peers can be.
    [[nodiscard]] const std::string& reason() const { return reason_; }
    [[nodiscard]] const std::filesystem::path& nvcc() const { return nvcc_; }
    /// Returns the version of the headers, such as "CCCL 3.0.1".
    [[nodiscard]] std::string description() const;

    /// Returns text, without a final dot, about a requirement of `peer` that this CCCL does not meet; empty
    /// if it meets all.
    [[nodiscard]] std::string missing(const Peer& peer) const;

    /// Returns the compiler's command line for an architecture such as "sm_90", without file names.
    [[nodiscard]] std::vector<std::string> command(const std::string& architecture) const;

    /// Compiles a source text, or loads the stored library of an equal text. Safe for use by several threads
    /// at once.
    ///
    /// Libraries and their texts are stored in $XDG_CACHE_HOME/segfold/peers, or else in
    /// ~/.cache/segfold/peers. If neither XDG_CACHE_HOME nor HOME is set, they are stored only until the
    /// process ends. Throws DeviceError, with nvcc's first error and its log, if nvcc fails.
    [[nodiscard]] PeerLibrary compile(const std::string& name, const std::string& source,
                                      const std::string& architecture) const;

private:
    std::filesystem::path nvcc_;
    std::filesystem::path cccl_;
    std::string reason_;
};

/// Returns the struct Results of a peer's text, given the addresses of the arrays.
[[nodiscard]] std::vector<std::byte> pack_peer_results(const EmittedPeer& emitted,
                                                       std::span<const std::uint64_t> arrays);

/// Compiles a source text, or loads the stored library of an equal text. The command line is `command`, the
/// file names, then `last`. Stores libraries as PeerToolkit::compile() does.
[[nodiscard]] PeerLibrary compile_peer(const std::string& name, const std::string& source,
                                       const std::vector<std::string>& command,
                                       const std::vector<std::string>& last = {});

/// Returns the folder of compiled peers, which only the user can access. Throws DeviceError if it cannot be
/// created.
[[nodiscard]] std::filesystem::path peer_directory();

}  // namespace segfold::bench
