#pragma once
// Keeps tests short: compiles texts of native stages without optimisation, and draws the cases of a large
// matrix that a run tries.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>

#include "runtime/support/processes/process.h"

namespace segfold::test {

/// Makes this process compile texts with -O0, in a fifth of the time, unless $CXX names a compiler. Call it
/// before the first text: a process keeps the compiler that it has found. If several tests run in one
/// process, the first test decides for all.
inline void compile_briefly()
{
    if (std::getenv("CXX") == nullptr && find_program("g++"))
        setenv("CXX", "g++ -O0", 1);
}

/// A run that draws tries one of so many cases of a large matrix.
constexpr std::size_t kOneOf = 6;

/// The value of SEGFOLD_TEST_DRAW; empty if every case is tried.
inline std::string draw_text()
{
    const char* text = std::getenv("SEGFOLD_TEST_DRAW");
    return text == nullptr ? "" : text;
}

/// A number below `count`, drawn by SEGFOLD_TEST_DRAW and a name.
inline std::size_t drawn_number(std::string_view name, std::size_t count)
{
    return std::hash<std::string>()(draw_text() + "\n" + std::string(name)) % count;
}

/// Whether this run skips a case. Without SEGFOLD_TEST_DRAW a run tries every case. With it, a run tries
/// about one case of `one_of`, drawn by that text and the case's name. Continuous integration sets it to the
/// commit, so that each commit tries other cases.
inline bool is_left_out(std::string_view name, std::size_t one_of = kOneOf)
{
    return !draw_text().empty() && drawn_number(name, one_of) != 0;
}

/// Whether this run skips the current test, by its full name.
inline bool is_left_out()
{
    const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
    return is_left_out(std::string(test.test_suite_name()) + "." + test.name());
}

/// The message of a skipped test.
constexpr const char* kLeftOut = "SEGFOLD_TEST_DRAW leaves it to other draws; without it every case is tried";

/// Draws the cases of one test. The destructor prints how many were tried, and skips the test if none was
/// drawn. It fails the test if there are no cases, or if none was tried without SEGFOLD_TEST_DRAW.
class Draw {
public:
    Draw() = default;
    Draw(const Draw&) = delete;
    Draw& operator=(const Draw&) = delete;

    ~Draw()
    {
        if (tried_ < met_)
            std::cout << "tried " << tried_ << " of " << met_ << " cases\n";
        if (met_ == 0 || (tried_ == 0 && draw_text().empty()))
            ADD_FAILURE() << "no case was tried";
        else if (tried_ == 0)
            [] { GTEST_SKIP() << kLeftOut; }();
    }

    /// Whether to try the case of this name.
    bool takes(std::string_view name)
    {
        const bool is_taken = !is_left_out(name);
        ++met_;
        tried_ += is_taken ? 1 : 0;
        return is_taken;
    }

private:
    int met_ = 0;
    int tried_ = 0;
};

}  // namespace segfold::test
