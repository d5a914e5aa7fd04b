#pragma once
// The stages and parts of kernels/, embedded at build time.
#include <span>

#include "dsl/embedded_file.h"

namespace segfold {

/// Every .cu and .cuh below kernels/, sorted by path, which starts with "stages/" or "parts/".
std::span<const EmbeddedFile> embedded_kernels();

}  // namespace segfold
