#pragma once
// Reads from a cubin (an ELF image) facts about kernels that ptxas does not report.
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace segfold::cuda {

/// Returns the number of machine instructions, with padding, of each kernel and of each function that is not
/// inlined. The keys of the result are the names.
///
/// Instructions since compute capability 7.0 have 16 bytes. Throws DeviceError if the bytes are no ELF image.
[[nodiscard]] std::map<std::string, std::int64_t> instruction_counts(std::span<const char> cubin);

}  // namespace segfold::cuda
