#pragma once
// Compiles a peer's text to a shared library with nvcc or the host's compiler.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "codegen/peer.h"

namespace segfold::bench {

/// Arguments of a peer's function. The emitted text has the same struct (kernels/vocabulary/peer.cuh).
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

/// A compiled peer; its code stays loaded until the process ends.
struct PeerLibrary {
    int (*fold)(PeerCall*) = nullptr;
    const char* (*error_text)(int) = nullptr;
    double compile_seconds = 0;
    /// True if the library comes from the folder of compiled peers. `compile_seconds` is then the time of the
    /// earlier compilation.
    bool is_compiled_before = false;
};

/// The CUDA toolkit that compiles peers.
class PeerToolkit {
public:
    /// Searches toolkit_folders() for nvcc. Uses the headers in `cccl`, else in the folder $SEGFOLD_CCCL,
    /// else the toolkit's own. Throws InputError if named headers are missing or require a newer nvcc.
    explicit PeerToolkit(const std::filesystem::path& cccl = {});

    /// Returns the reason why no peer can be compiled, in one sentence; empty if peers can be compiled.
    [[nodiscard]] const std::string& reason() const { return reason_; }
    [[nodiscard]] const std::filesystem::path& nvcc() const { return nvcc_; }
    /// The version of the headers, as in "CCCL 3.0.1".
    [[nodiscard]] std::string description() const;

    /// Returns a text on what `peer` needs but this CCCL lacks, without a final dot; empty if nothing is
    /// lacking.
    [[nodiscard]] std::string missing(const Peer& peer) const;

    /// Returns the command that makes a library for an architecture such as "sm_90", without the file names.
    [[nodiscard]] std::vector<std::string> command(const std::string& architecture) const;

    /// Compiles a text, or loads the library that an earlier run made of the same text. Several threads may
    /// call this at once.
    ///
    /// Compiled peers and their texts are stored in $XDG_CACHE_HOME/segfold/peers, else in
    /// ~/.cache/segfold/peers. If neither XDG_CACHE_HOME nor HOME is set, they are stored only until the
    /// process ends. A stored library is used only if its text is equal. If nvcc fails, throws DeviceError
    /// with its first error and its log.
    [[nodiscard]] PeerLibrary compile(const std::string& name, const std::string& source,
                                      const std::string& architecture) const;

private:
    std::filesystem::path nvcc_;
    std::filesystem::path cccl_;
    std::string reason_;
};

/// Compiles a text by `command`, followed by the file names and `last`; or loads the library that an earlier
/// run made of the same text. Stores libraries like PeerToolkit::compile().
[[nodiscard]] PeerLibrary compile_peer(const std::string& name, const std::string& source,
                                       const std::vector<std::string>& command,
                                       const std::vector<std::string>& last = {});

/// Returns the folder of compiled peers, which only the user can read. Throws DeviceError if it cannot be
/// made.
[[nodiscard]] std::filesystem::path peer_directory();

}  // namespace segfold::bench
