// A program may fold while it ends: in destructors of its own static objects, which were made before those of
// the library, and on the way out of exit().
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>

#include "runtime/backends/thrust/reduce_by_key.h"
#include "tests/common/front_door.h"

namespace segfold::test::end_of_process_test {
namespace {

constexpr unsigned kPatience = 60;

/// What a program keeps: they are made before the library has kept anything, and so end after that.
std::optional<Session> session;
std::optional<Plan> plan;

const std::vector<int> kMany(1 << 20, 1);

/// A text that was compiled before, one that was not, a plan, and an operator that was not asked for.
void fold_at_the_end()
{
    alarm(kPatience);
    try {
        int sum = 0;
        plan->run({kValues}, whole(), {MutableArrayView(Type::i32, &sum, 1)});
        const auto sums = session->fold(standard_operator("sum_i32"), {kMany}, uniform(1 << 10));
        const auto least = session->fold(standard_operator("min_i32"), {kMany}, uniform(1 << 10));
        std::cerr << "at the end: " << sum << ' ' << sums.values<int>()[7] << ' ' << least.values<int>()[7]
                  << '\n';
    } catch (const std::exception& error) {
        std::cerr << "at the end: " << error.what() << '\n';
    }
    session.reset();
    plan.reset();
}

[[noreturn]] void fold_and_exit(const std::string& backend)
{
    std::atexit(fold_at_the_end);  // called after the destructors of what is made from here on
    session.emplace(session_on(backend));
    plan.emplace(session->plan(standard_operator("sum_i32"), whole(), std::ssize(kValues)));
    (void)session->fold(standard_operator("sum_i32"), {kMany}, uniform(1 << 10));
    std::exit(0);
}

class EndOfProcessDeathTest : public testing::TestWithParam<const char*> {};

// In a process that begins anew, in which the library has kept nothing yet.
TEST_P(EndOfProcessDeathTest, DestructorsFold)
{
    if (GetParam() == std::string_view("thrust") && !thrust_available(thrust_system()))
        GTEST_SKIP() << thrust_unavailable_reason(thrust_system());
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(fold_and_exit(GetParam()), testing::ExitedWithCode(0), "at the end: 36 1024 1\n");
}

// Its texts lie in a folder, which the process removes when it ends.
TEST(EndOfSimtDeathTest, CompilesNoMore)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(fold_and_exit("simt"), testing::ExitedWithCode(0),
                "at the end: simt: the process is ending, and its folder of texts is gone: ");
}

INSTANTIATE_TEST_SUITE_P(Backends, EndOfProcessDeathTest, testing::Values("cpu", "reference", "thrust"));

}  // namespace
}  // namespace segfold::test::end_of_process_test
