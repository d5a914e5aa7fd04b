#pragma once
// The program of solver_child.cpp, as bytes.
#include <string_view>

namespace segfold::prove {

std::string_view solver_program();

}  // namespace segfold::prove
