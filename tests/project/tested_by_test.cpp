// Every header with functions is tested: by a file of its name, or by the one that tested_by.txt names.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/common/files.h"

namespace segfold::tested_by_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SEGFOLD_SOURCE_DIR;

/// A row of tested_by.txt.
struct Row {
    std::string header, test;
    std::string words;  ///< in the test, by which it reaches the header; empty if it includes the header
};

/// Fields stand two blanks apart.
Row row_of(const std::string& line)
{
    const auto test = line.find("  ");
    const auto words = line.find("  ", test + 2);
    return {line.substr(0, test), line.substr(test + 2, words - test - 2),
            words == line.npos ? "" : line.substr(words + 2)};
}

std::string text_of(const std::string& path) { return read_text((kRoot / path).string()); }

std::vector<Row> rows()
{
    std::vector<Row> all;
    std::istringstream lines(text_of("tests/project/tested_by.txt"));
    for (std::string line; std::getline(lines, line);)
        all.push_back(row_of(line));
    return all;
}

/// The faults of a row: a file that is not there, a test that neither includes nor names the header.
std::string fault_of(const Row& row)
{
    for (const auto& path : {row.header, row.test})
        if (!fs::is_regular_file(kRoot / path))
            return path + " is not there";
    const auto wanted = row.words.empty() ? "#include \"" + row.header + "\"" : row.words;
    return text_of(row.test).find(wanted) == std::string::npos ? row.test + " has no " + wanted : "";
}

/// Files below the folders whose names end so, from the root of the repository.
std::vector<std::string> files_below(const std::vector<std::string>& folders, const std::string& end)
{
    std::vector<std::string> files;
    for (const auto& folder : folders)
        for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
            if (entry.path().string().ends_with(end))
                files.push_back(entry.path().lexically_relative(kRoot).string());
    std::ranges::sort(files);
    return files;
}

/// Whether the header declares a function: a bracket stands in a line that is no comment and no directive.
bool has_functions(const std::string& header)
{
    std::istringstream lines(text_of(header));
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('#') && line.substr(0, line.find("//")).find('(') != std::string::npos)
            return true;
    return false;
}

/// Whether a file of tests has the header's name: NAME_test.cpp, NAME_..._test.cpp or test_NAME.py.
bool has_its_test(const std::string& header, const std::vector<std::string>& tests)
{
    const auto name = fs::path(header).stem().string();
    return std::ranges::any_of(tests, [&](const std::string& test) {
        const auto file = fs::path(test).filename().string();
        return file.starts_with(name + "_") || file == "test_" + name + ".py";
    });
}

TEST(TestedBy, RowsNameTestsOfTheirHeaders)
{
    std::set<std::string> headers;
    for (const auto& row : rows()) {
        EXPECT_EQ(fault_of(row), "") << "tests/project/tested_by.txt: " << row.header;
        EXPECT_TRUE(headers.insert(row.header).second) << row.header << " has two rows";
    }
    EXPECT_EQ(fault_of({"dsl/no.h", "tests/dsl/append_test.cpp", ""}), "dsl/no.h is not there");
    EXPECT_EQ(fault_of({"dsl/type.h", "tests/project/layering_test.cpp", ""}),
              "tests/project/layering_test.cpp has no #include \"dsl/type.h\"");
}

TEST(TestedBy, EveryHeaderWithFunctionsHasATest)
{
    std::set<std::string> listed;
    for (const auto& row : rows())
        listed.insert(row.header);
    auto tests = files_below({"tests"}, "_test.cpp");
    std::ranges::move(files_below({"runtime/python/tests"}, ".py"), std::back_inserter(tests));
    for (const auto& header : files_below({"dsl", "codegen", "runtime"}, ".h"))
        if (!header.starts_with("runtime/include/") && has_functions(header) &&
            !has_its_test(header, tests)) {
            EXPECT_TRUE(listed.contains(header))
                << header << " has no test of its name; write one, or a row 'HEADER  TEST' in "
                << "tests/project/tested_by.txt, where the test includes the header, or 'HEADER  TEST  "
                   "WORDS'";
        }
}

}  // namespace
}  // namespace segfold::tested_by_test
