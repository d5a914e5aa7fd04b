#pragma once
// The system's C++ compiler.
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// The compiler's path and the words that follow it, as in CXX="ccache g++ -m64".
///
/// `wanted` where it is not empty, else $CXX, else the first of g++, c++ and clang++ that there is. Messages
/// begin with `user`, the name of what compiles. Throws DeviceError where there is none; what $CXX names must
/// be there.
std::vector<std::string> find_host_compiler(std::string_view user, const std::string& wanted = "");

}  // namespace segfold
