#pragma once
// What keeps the tests brief: how texts of native stages are compiled, and which cases of a large matrix a
// run tries.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

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

/// Whether this run leaves a case to others. Without SEGFOLD_TEST_DRAW it tries every case; with it, about
/// half of them, drawn by that text and the case's name. Continuous integration gives the commit, so that
/// each commit tries other cases.
inline bool is_left_out(std::string_view name)
{
    const char* draw = std::getenv("SEGFOLD_TEST_DRAW");
    if (draw == nullptr || *draw == '\0')
        return false;
    return std::hash<std::string>()(std::string(draw).append("\n").append(name)) % 2 != 0;
}

/// The same of the test that runs, by its full name.
inline bool is_left_out()
{
    const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
    return is_left_out(std::string(test.test_suite_name()) + "." + test.name());
}

/// Why a test that is left out is skipped.
constexpr const char* kLeftOut = "SEGFOLD_TEST_DRAW leaves it to other draws; without it every case is tried";

}  // namespace segfold::test
