// Linked into every program of tests: a run that draws (SEGFOLD_TEST_DRAW) tries about a sixth of the long
// tests, those of long_tests.txt, as it does of the cases of large matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/common/brief_tests.h"

namespace segfold::test {
namespace {

/// "Suite.Test" of "Prefix/Suite.Test/parameter".
std::string name_without_parameter(const std::string& suite, const std::string& test)
{
    return suite.substr(suite.rfind('/') + 1) + "." + test.substr(0, test.find('/'));
}

bool is_long(const std::string& name)
{
    std::ifstream list(SEGFOLD_SOURCE_DIR "/tests/project/long_tests.txt");
    for (std::string line; std::getline(list, line);)
        if (line == name)
            return true;
    return false;
}

/// The one test that this process runs, as ctest starts it; null where it runs several.
const testing::TestInfo* only_test()
{
    const auto& all = *testing::UnitTest::GetInstance();
    if (all.test_to_run_count() != 1)
        return nullptr;
    for (int i = 0; i < all.total_test_suite_count(); ++i)
        for (int k = 0; k < all.GetTestSuite(i)->total_test_count(); ++k)
            if (const auto* test = all.GetTestSuite(i)->GetTestInfo(k); test->should_run())
                return test;
    return nullptr;
}

class LongTests : public testing::Environment {
    void SetUp() override
    {
        const auto* test = draw_text().empty() ? nullptr : only_test();
        if (test == nullptr || !is_long(name_without_parameter(test->test_suite_name(), test->name())))
            return;
        const auto name = std::string(test->test_suite_name()) + "." + test->name();
        if (!is_left_out(name))
            return;
        // A skip here ends the run without the lines that say so of a test, which ctest looks for.
        std::cout << __FILE__ << ":" << __LINE__ << ": Skipped\n"
                  << kLeftOut << "\n\n[  SKIPPED ] " << name << "\n";
        GTEST_SKIP() << kLeftOut;
    }
};

[[maybe_unused]] const auto* const unused = testing::AddGlobalTestEnvironment(new LongTests);

}  // namespace
}  // namespace segfold::test
