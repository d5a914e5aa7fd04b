#pragma once
// A kernel's parameters, read from its signature.
#include <string>
#include <string_view>
#include <vector>

#include "codegen/dialect.h"

namespace segfold {

/// The names of a kernel's parameters, in order. Throws SpecError naming `file` where `body` has no such
/// `__global__` function; of a native text, no `extern "C"` one. A native kernel's first parameter, which is
/// the number of its part of the work, is left out.
std::vector<std::string> kernel_parameters(const std::string& kernel, std::string_view body,
                                           const std::string& file, Dialect dialect = Dialect::cuda);

}  // namespace segfold
