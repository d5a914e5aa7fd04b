#pragma once
// A peer's text made into a shared library, by nvcc or by the host's compiler.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "codegen/peer.h"

namespace segfold::bench {

/// The argument of a peer's function; the emitted text has the same struct (codegen/peer.cpp).
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
    long long segment_length = 0;  ///< the longest
    void* scratch = nullptr;
    std::size_t scratch_bytes = 0;
    void* stream = nullptr;
};

/// A compiled peer; its code stays loaded until the process ends.
struct PeerLibrary {
    int (*fold)(PeerCall*) = nullptr;
    const char* (*error_text)(int) = nullptr;
    double compile_seconds = 0;
    bool is_compiled_before =
        false;  ///< taken from the folder of compiled peers, with the time that it took then
};

/// The CUDA toolkit that compiles peers.
class PeerToolkit {
public:
    /// Looks for nvcc as toolkit_folders() says, and takes the headers in `cccl`, else those that
    /// $SEGFOLD_CCCL names, else the toolkit's own. Throws InputError for named headers that are not there or
    /// that refuse this nvcc.
    explicit PeerToolkit(const std::filesystem::path& cccl = {});

    /// Why no peer can be compiled, in one sentence; "" if one can.
    [[nodiscard]] const std::string& reason() const { return reason_; }
    [[nodiscard]] const std::filesystem::path& nvcc() const { return nvcc_; }
    /// "CCCL 3.0.1"
    [[nodiscard]] std::string description() const;

    /// What this CCCL lacks for `peer`: a sentence without its full stop, or "".
    [[nodiscard]] std::string missing(const Peer& peer) const;

    /// The command that makes a library for "sm_90", but for the names of the files.
    [[nodiscard]] std::vector<std::string> command(const std::string& architecture) const;

    /// Compiles a text, or takes what an earlier run made of the same; safe to call from several threads at
    /// once.
    ///
    /// Compiled peers are kept in $XDG_CACHE_HOME/segfold/peers, else ~/.cache/segfold/peers, each beside its
    /// text, which is compared before it is taken; without these variables until the process ends. Throws
    /// DeviceError with nvcc's first error and its log.
    [[nodiscard]] PeerLibrary compile(const std::string& name, const std::string& source,
                                      const std::string& architecture) const;

private:
    std::filesystem::path nvcc_;
    std::filesystem::path cccl_;
    std::string reason_;
};

/// The library that `command` makes of a text, with `last` behind the names of the files, or what an earlier
/// run made of the same; as PeerToolkit::compile() keeps it.
[[nodiscard]] PeerLibrary compile_peer(const std::string& name, const std::string& source,
                                       const std::vector<std::string>& command,
                                       const std::vector<std::string>& last = {});

/// The folder of compiled peers, private to the user. Throws DeviceError if it cannot be made.
[[nodiscard]] std::filesystem::path peer_directory();

}  // namespace segfold::bench
