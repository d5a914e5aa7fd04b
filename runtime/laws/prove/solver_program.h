#pragma once
// The compiled program of solver_child.cpp.
#include <string_view>

namespace segfold::prove {

std::string_view solver_program();

}  // namespace segfold::prove
