// The list of long tests names tests.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace segfold::long_tests_test {
namespace {

namespace fs = std::filesystem;

/// "Suite.Test" of each TEST, TEST_F and TEST_P in the sources.
std::set<std::string> names_of_tests()
{
    const std::regex macro("TEST(?:_[FP])?\\(\\s*(\\w+),\\s*(\\w+)\\)");
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(SEGFOLD_SOURCE_DIR "/tests")) {
        if (!entry.path().string().ends_with("_test.cpp"))
            continue;
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        for (std::sregex_iterator found(text.begin(), text.end(), macro), end; found != end; ++found)
            names.insert((*found)[1].str() + "." + (*found)[2].str());
    }
    return names;
}

TEST(LongTests, AreTests)
{
    const auto tests = names_of_tests();
    std::ifstream list(SEGFOLD_SOURCE_DIR "/tests/project/long_tests.txt");
    int count = 0;
    for (std::string line; std::getline(list, line); ++count)
        EXPECT_TRUE(tests.contains(line))
            << "tests/project/long_tests.txt names " << line << ", which is no test";
    EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace segfold::long_tests_test
