// A program may fold while it ends: in destructors of static objects that were made before the library's, and
// in functions of atexit().
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

/// Static objects of a program. They are made before the library's static objects, and so are destroyed after
/// them.
std::optional<Session> session;
std::optional<Plan> plan;

const std::vector<int> kMany(1 << 20, 1);

/// Runs a plan, and folds by a text that was compiled before and by the text of a new operator.
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
    // Called after the destructors of static objects that are made from here on.
    std::atexit(fold_at_the_end);
    session.emplace(session_on(backend));
    plan.emplace(session->plan(standard_operator("sum_i32"), whole(), std::ssize(kValues)));
    (void)session->fold(standard_operator("sum_i32"), {kMany}, uniform(1 << 10));
    std::exit(0);
}

class EndOfProcessDeathTest : public testing::TestWithParam<const char*> {};

// A new process, in which the library has made no static objects yet.
TEST_P(EndOfProcessDeathTest, DestructorsFold)
{
    if (GetParam() == std::string_view("thrust") && !thrust_available(thrust_system()))
        GTEST_SKIP() << thrust_unavailable_reason(thrust_system());
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(fold_and_exit(GetParam()), testing::ExitedWithCode(0), "at the end: 36 1024 1\n");
}

// simt keeps its texts in a folder that the process removes when it ends.
TEST(EndOfSimtDeathTest, CompilesNoMore)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(fold_and_exit("simt"), testing::ExitedWithCode(0),
                "at the end: simt: the process is ending, and its folder of texts is gone: ");
}

INSTANTIATE_TEST_SUITE_P(Backends, EndOfProcessDeathTest, testing::Values("cpu", "reference", "thrust"));

}  // namespace
}  // namespace segfold::test::end_of_process_test
