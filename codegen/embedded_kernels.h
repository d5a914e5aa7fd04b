#pragma once
// The stages and parts of kernels/, embedded at build time.
#include <span>
#include <string_view>

#include "dsl/embedded_file.h"

namespace segfold {

/// Returns all .cu and .cuh files below kernels/ except the vocabulary, sorted by path, such as
/// "stages/row_tree.cu".
std::span<const EmbeddedFile> embedded_kernels();

/// Returns all .cpp and .h files below kernels/cpu/, sorted by path. The paths begin with "cpu/".
std::span<const EmbeddedFile> embedded_native_kernels();

/// Returns the text of a file in kernels/, such as "measuring/read.cu". Throws InternalError if there is no
/// such file.
std::string_view kernel_text(std::string_view path);

}  // namespace segfold
