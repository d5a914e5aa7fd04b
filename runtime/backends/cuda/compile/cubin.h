#pragma once
// Reads from a cubin (an ELF image) what ptxas does not report about kernels.
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace segfold::cuda {

/// Returns the number of machine instructions, including padding, of each kernel and of each function that is
/// not inlined. The keys of the result are the functions' names.
///
/// Every instruction has 16 bytes since compute capability 7.0. Throws DeviceError if the bytes are no ELF
/// image.
[[nodiscard]] std::map<std::string, std::int64_t> instruction_counts(std::span<const char> cubin);

}  // namespace segfold::cuda
