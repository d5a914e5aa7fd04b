#pragma once
// Compiled kernels in one file, for machines without NVRTC.
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backends/cuda/compile/compiler_identity.h"
#include "runtime/backends/cuda/compile/kernel_entry.h"
#include "runtime/support/files/cache_settings.h"

namespace segfold::cuda {

/// Kernels with the NVRTC that compiled them. A zip archive holds them as the files of a kernel cache: a
/// record of the compiler, and a file for each kernel.
struct KernelArchive {
    /// Version of NVRTC, and the architectures of the kernels. Path and file are those of no library.
    CompilerIdentity compiler;
    std::vector<KernelEntry> kernels;
};

/// Writes an archive, completely or not at all. Throws InputError if the file cannot be written.
void write_archive(const std::string& path, const KernelArchive& archive);

/// Reads an archive for a kernel cache that may hold `most_bytes`, and verifies all of it.
///
/// Throws InputError that begins with the path, and writes nothing, if a member is damaged, has a name that
/// no kernel cache gives, or holds another kernel than its name says; if a kernel is of another NVRTC or
/// architecture than the record says; and, before anything is inflated, if the members are more than half of
/// `most_bytes`.
[[nodiscard]] KernelArchive read_archive(const std::string& path, std::uint64_t most_bytes);

/// Adds the kernels of an archive to the folder of a kernel cache. Where the folder knows the compiler from
/// an earlier import, its record gets the architectures of both.
///
/// Throws InputError, before anything is written, if the cache is off or has no usable folder.
void import_archive(const KernelArchive& archive, const cache::Settings& settings);

}  // namespace segfold::cuda
