#include "runtime/measure/bench/peers/peer_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <atomic>
#include <boost/crc.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "dsl/error.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/measure/bench/peers/cccl.h"
#include "runtime/support/files/file.h"
#include "runtime/support/files/leftovers.h"
#include "runtime/support/files/private_folder.h"
#include "runtime/support/files/user_folders.h"
#include "runtime/support/processes/process.h"

namespace segfold::bench {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool write_text(const fs::path& path, const std::string& text)
{
    try {
        write_whole(path.string(), text);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

/// Returns the first line of a compiler's log that reports an error.
std::string first_error(const std::string& log)
{
    for (std::size_t at = 0; at < log.size();) {
        const auto end = std::min(log.find('\n', at), log.size());
        const auto line = log.substr(at, end - at);
        if (line.find("error") != std::string::npos)
            return line;
        at = end + 1;
    }
    return "the compiler gave no reason";
}

/// Returns a file name for a source text. Different texts may get the same name, so a library's text is
/// compared before the library is used.
std::string file_stem(const std::string& name, const std::string& text)
{
    boost::crc_32_type checksum;
    checksum.process_bytes(text.data(), text.size());
    return fmt::format("{}-{:08x}", name, checksum.checksum());
}

PeerLibrary open_library(const fs::path& path)
{
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        throw DeviceError(fmt::format("{}: cannot be loaded: {}", path.string(), dlerror()));
    PeerLibrary library;
    library.fold = reinterpret_cast<int (*)(PeerCall*)>(dlsym(handle, kPeerFunction));
    library.error_text = reinterpret_cast<const char* (*)(int)>(dlsym(handle, "segfold_peer_error"));
    if (library.fold == nullptr || library.error_text == nullptr)
        throw DeviceError(
            fmt::format("{}: has no function {}; remove the file", path.string(), kPeerFunction));
    return library;
}

}  // namespace

PeerToolkit::PeerToolkit(const fs::path& cccl)
{
    const auto named = cccl.empty() ? cccl_of_environment() : cccl;
    std::string places;
    for (const auto& folder : toolkit_folders()) {
        std::error_code ignored;
        places += (places.empty() ? "" : ", ") + folder.string();
        if (!fs::is_regular_file(folder / "bin/nvcc", ignored))
            continue;
        cccl_ = named.empty() ? cccl_in(folder) : named;
        if (cccl_.empty())
            continue;
        nvcc_ = folder / "bin/nvcc";
        if (!named.empty())
            require_new_enough(nvcc_, cccl_);
        return;
    }
    reason_ = fmt::format("there is no nvcc{} in {}; set SEGFOLD_TOOLKIT to a CUDA toolkit",
                          named.empty() ? " with CUB's headers" : "", places);
}

std::string PeerToolkit::description() const { return cccl_description(cccl_); }

std::string PeerToolkit::missing(const Peer& peer) const
{
    const auto path = cccl_ / peer.header;
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored))
        return fmt::format("{} has no {}", description(), peer.header);
    if (read_text(path).find(peer.header_text) == std::string::npos)
        return fmt::format("{} of {} has no overload with '{}'", peer.call, description(), peer.header_text);
    return "";
}

std::vector<std::string> PeerToolkit::command(const std::string& architecture) const
{
    return {nvcc_.string(),
            "-shared",
            "-Xcompiler",
            "-fPIC,-fvisibility=hidden",
            "-O3",
            "-std=c++17",
            "-arch=" + architecture,
            "-I" + cccl_.string()};
}

PeerLibrary PeerToolkit::compile(const std::string& name, const std::string& source,
                                 const std::string& architecture) const
{
    if (!reason_.empty())
        throw DeviceError(reason_);
    // The compared text ends with the compiler, headers and architecture. A library is therefore reused only
    // if these are equal too.
    return compile_peer(name,
                        fmt::format("{}\n// {} {} {}\n", source, nvcc_.string(), description(), architecture),
                        command(architecture));
}

std::vector<std::byte> pack_peer_results(const EmittedPeer& emitted, std::span<const std::uint64_t> arrays)
{
    std::vector<std::uint64_t> addresses(emitted.num_unkept_results, 0);
    addresses.insert(addresses.end(), arrays.begin(), arrays.end());
    return pack_pointers(addresses);
}

PeerLibrary compile_peer(const std::string& name, const std::string& source,
                         const std::vector<std::string>& command, const std::vector<std::string>& last)
{
    const auto directory = peer_directory();
    const auto text = fmt::format("{}\n// {} {}\n", source, fmt::join(command, " "), fmt::join(last, " "));
    const auto stem = directory / file_stem(name, text);
    const auto kept = fs::path(stem.string() + ".so"), kept_text = fs::path(stem.string() + ".cu"),
               kept_time = fs::path(stem.string() + ".seconds");
    std::error_code error;
    if (fs::is_regular_file(kept, error) && read_text(kept_text) == text) {
        auto library = open_library(kept);
        library.compile_seconds = std::strtod(read_text(kept_time).c_str(), nullptr);
        library.is_compiled_before = true;
        return library;
    }

    static std::atomic<int> count = 0;
    const auto own = fmt::format("{}.{}.{}", stem.string(), getpid(), count++);
    const fs::path own_source = own + ".cu", own_library = own + ".so";
    const Leftover source_leftover(own_source.string()), library_leftover(own_library.string());
    if (!write_text(own_source, text)) {
        fs::remove(own_source, error);
        throw DeviceError(fmt::format("{}: cannot be written", own_source.string()));
    }
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    auto words = command;
    for (const auto& word : {std::string("-o"), own_library.string(), own_source.string()})
        words.push_back(word);
    words.insert(words.end(), last.begin(), last.end());
    const auto result = run_process(words);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (result.status != 0) {
        const auto compiler = fs::path(command[0]).filename().string();
        fs::rename(own_source, kept_text, error);
        fs::remove(own_library, error);
        throw DeviceError(
            fmt::format("{}: {} does not compile it: {}\nthe source is kept in {}\n{} says:\n{}", name,
                        compiler, first_error(result.output), kept_text.string(), command[0], result.output));
    }
    // Stores the library last, so that a process that finds the library also finds its text.
    if (!write_text(kept_time, fmt::format("{}\n", seconds)))
        fs::remove(kept_time, error);
    fs::rename(own_source, kept_text, error);
    fs::rename(own_library, kept, error);
    auto library = open_library(kept);
    library.compile_seconds = seconds;
    return library;
}

fs::path peer_directory()
{
    try {
        const auto folder = user_cache_folder("peers");
        if (folder.empty()) {
            static const ScratchFolder own("segfold-peers");
            return own.path();
        }
        // Nobody else may write to this folder, because code is loaded from it.
        cache::require_private_folder(folder);
        return folder;
    } catch (const InputError& error) {
        throw DeviceError(
            fmt::format("no folder for compiled peers: {}; set XDG_CACHE_HOME to a folder that can "
                        "be written",
                        error.what()));
    }
}

}  // namespace segfold::bench
