#pragma once
// Reads the parameters of a kernel from its signature.
#include <string>
#include <string_view>
#include <vector>

#include "codegen/dialect.h"

namespace segfold {

/// Returns the names of a kernel's parameters in order. Throws SpecError that names `file` if `body` has no
/// such `__global__` function, or, for native text, no such `extern "C"` function. Leaves out the first
/// parameter of a native kernel, which is the number of its share of the work.
std::vector<std::string> kernel_parameters(const std::string& kernel, std::string_view body,
                                           const std::string& file, Dialect dialect = Dialect::cuda);

}  // namespace segfold
