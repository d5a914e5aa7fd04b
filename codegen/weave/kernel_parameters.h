#pragma once
// Reads the parameters of a kernel from its signature.
#include <string>
#include <string_view>
#include <vector>

#include "codegen/dialect.h"

namespace segfold {

/// Returns the names of a kernel's parameters in order. Omits the first parameter of a native kernel, which
/// tells a call its share of the work. Throws SpecError, which names `file`, if CUDA text has no `__global__`
/// function `kernel`, or native text has no `extern "C"` function `kernel`.
std::vector<std::string> kernel_parameters(const std::string& kernel, std::string_view body,
                                           const std::string& file, Dialect dialect = Dialect::cuda);

}  // namespace segfold
