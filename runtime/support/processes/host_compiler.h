#pragma once
// Finds the system's C++ compiler.
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// Returns the compiler's path and the words that follow it, as in CXX="ccache g++ -m64".
///
/// Uses `wanted` if it is not empty, else $CXX, else the first of g++, c++ and clang++ that exists. Messages
/// begin with `user`, the name of the part that compiles. Throws DeviceError if there is no compiler, or if
/// the one in $CXX does not exist.
std::vector<std::string> find_host_compiler(std::string_view user, const std::string& wanted = "");

}  // namespace segfold
