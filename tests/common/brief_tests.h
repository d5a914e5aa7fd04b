#pragma once
// What keeps the tests brief: how texts of native stages are compiled, and which cases of a large matrix a
// run tries.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <iostream>
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

/// Of so many cases of a large matrix a run that draws tries one.
constexpr std::size_t kOneOf = 4;

/// What SEGFOLD_TEST_DRAW says; empty where every case is tried.
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

/// Whether this run leaves a case to others. Without SEGFOLD_TEST_DRAW it tries every case; with it, about
/// one of `one_of`, drawn by that text and the case's name. Continuous integration gives the commit, so that
/// each commit tries other cases.
inline bool is_left_out(std::string_view name, std::size_t one_of = kOneOf)
{
    return !draw_text().empty() && drawn_number(name, one_of) != 0;
}

/// The same of the test that runs, by its full name.
inline bool is_left_out()
{
    const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
    return is_left_out(std::string(test.test_suite_name()) + "." + test.name());
}

/// Why a test that is left out is skipped.
constexpr const char* kLeftOut = "SEGFOLD_TEST_DRAW leaves it to other draws; without it every case is tried";

/// The cases of one test, of which a run that draws tries some. Its end says how many; where that is none,
/// the test is skipped. It fails where there are no cases, and where without SEGFOLD_TEST_DRAW none was
/// tried.
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

    /// Whether the case of this name is tried.
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
