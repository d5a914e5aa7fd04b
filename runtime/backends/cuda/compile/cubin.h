#pragma once
// Facts of kernels that stand in a cubin, an ELF image, and not in the report of ptxas.
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace segfold::cuda {

/// Machine instructions of each kernel and of each function that is not inlined, by name; padding counts.
///
/// Instructions of compute capability 7.0 and later have 16 bytes. Throws DeviceError for bytes that are no
/// ELF image.
[[nodiscard]] std::map<std::string, std::int64_t> instruction_counts(std::span<const char> cubin);

}  // namespace segfold::cuda
