#pragma once
// Reads facts about kernels that ptxas does not report from a cubin (an ELF image).
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace segfold::cuda {

/// Counts the machine instructions, with padding, of each kernel and of each function that is not inlined, by
/// name.
///
/// Instructions since compute capability 7.0 have 16 bytes. Throws DeviceError if the bytes are no ELF image.
[[nodiscard]] std::map<std::string, std::int64_t> instruction_counts(std::span<const char> cubin);

}  // namespace segfold::cuda
