#pragma once
// The stages and parts of kernels/, embedded at build time.
#include <span>

#include "dsl/embedded_file.h"

namespace segfold {

/// Every .cu and .cuh below kernels/, sorted by path, which starts with "stages/" or "parts/".
std::span<const EmbeddedFile> embedded_kernels();

/// Every .cpp and .h below kernels/cpu/, sorted by path, which starts with "cpu/".
std::span<const EmbeddedFile> embedded_native_kernels();

}  // namespace segfold
