#pragma once
// How the texts of native stages are compiled.
#include <cstdlib>

#include "runtime/support/processes/process.h"

namespace segfold::test {

/// Has this process compile texts with -O0, in a fifth of the time, unless $CXX names a compiler. It must be
/// called before the first text: a process keeps the compiler it has found. A test runs in a process of its
/// own; where several run in one, the first decides for all.
inline void compile_briefly()
{
    if (std::getenv("CXX") == nullptr && find_program("g++"))
        setenv("CXX", "g++ -O0", 1);
}

}  // namespace segfold::test
