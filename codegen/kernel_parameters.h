#pragma once
// What a kernel takes, read from its signature.
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// The names of a kernel's parameters, in order. Throws SpecError naming `file` where `body` has no such
/// `__global__` function.
std::vector<std::string> kernel_parameters(const std::string& kernel, std::string_view body,
                                           const std::string& file);

}  // namespace segfold
