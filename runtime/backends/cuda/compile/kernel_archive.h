#pragma once
// Compiled kernels in one file, for machines without NVRTC.
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backends/cuda/compile/compiler_identity.h"
#include "runtime/backends/cuda/compile/kernel_entry.h"
#include "runtime/support/files/cache_settings.h"

namespace segfold::cuda {

/// Kernels, and the NVRTC that compiled them. A zip archive has the same files as a kernel cache: a record of
/// the compiler, and a file for each kernel.
struct KernelArchive {
    /// Version of NVRTC and the architectures of the kernels. Path and file are not used.
    CompilerIdentity compiler;
    std::vector<KernelEntry> kernels;
};

/// Writes an archive. The file appears complete or not at all. Throws InputError if the file cannot be
/// written.
void write_archive(const std::string& path, const KernelArchive& archive);

/// Reads an archive for a kernel cache of at most `most_bytes` bytes, and verifies all of it. Writes nothing.
///
/// Throws InputError that begins with the path if
///   - the members have more than half of `most_bytes` bytes, which is checked before anything is inflated,
///   - a member is damaged,
///   - a member has a name that no kernel cache gives, or another kernel than its name says,
///   - a kernel is of another NVRTC or architecture than the record says.
[[nodiscard]] KernelArchive read_archive(const std::string& path, std::uint64_t most_bytes);

/// Adds the kernels of an archive to the folder of a kernel cache, where they stay until someone removes
/// them. If the folder has a record of the compiler from an earlier import, the record gets the architectures
/// of both.
///
/// Throws InputError, before anything is written, if the cache is off or has no usable folder, or if all
/// imported kernels would take more than half of its bytes.
void import_archive(const KernelArchive& archive, const cache::Settings& settings);

}  // namespace segfold::cuda
