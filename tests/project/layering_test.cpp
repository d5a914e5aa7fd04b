// Reads the sources: includes point one way, files are short and folders have rooms, stages have their front
// matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace segfold::layering_test {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLines = 500;

struct Line {
    std::string file;  // relative to the repository root
    int number = 0;
    std::string text;
};

std::string place(const Line& line)
{
    return line.file + ":" + std::to_string(line.number) + ": " + line.text;
}

std::vector<Line> lines_of(const std::string& file)
{
    std::ifstream stream(fs::path(SEGFOLD_SOURCE_DIR) / file);
    std::vector<Line> lines;
    for (std::string text; std::getline(stream, text);) {
        lines.push_back({file, static_cast<int>(lines.size()) + 1, text});
    }
    return lines;
}

/// Files below `folder` with one of the suffixes, relative to the repository root and sorted.
std::vector<std::string> files_below(const std::string& folder,
                                     std::initializer_list<std::string_view> suffixes)
{
    const fs::path root = SEGFOLD_SOURCE_DIR;
    std::vector<std::string> files;
    if (!fs::exists(root / folder)) {
        return files;
    }
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        const std::string suffix = entry.path().extension();
        if (entry.is_regular_file() && std::ranges::find(suffixes, suffix) != suffixes.end()) {
            files.push_back(fs::relative(entry.path(), root));
        }
    }
    std::ranges::sort(files);
    return files;
}

std::vector<std::string> cpp_files()
{
    std::vector<std::string> files;
    for (const char* folder : {"dsl", "codegen", "runtime", "tests"}) {
        for (auto& file : files_below(folder, {".h", ".cpp", ".cu", ".cuh"})) {
            if (!file.starts_with("tests/golden/")) {
                files.push_back(std::move(file));
            }
        }
    }
    return files;
}

/// The path between the quotes or brackets of an #include; empty for any other line.
std::string_view included(std::string_view line)
{
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with("#include")) {
        return {};
    }
    const auto begin = line.find_first_of("\"<");
    const auto end = begin == line.npos ? begin : line.find_first_of("\">", begin + 1);
    return end == line.npos ? std::string_view{} : line.substr(begin + 1, end - begin - 1);
}

/// Height of a file's or an include's folder; an include may point to its own height or below. -1: not ours.
int height(std::string_view path)
{
    constexpr auto kOrder = std::to_array<std::string_view>({"dsl/",
                                                             "dsl/evaluation/",
                                                             "dsl/check/",
                                                             "dsl/rewrite/",
                                                             "dsl/laws/",
                                                             "dsl/smt/",
                                                             "dsl/cpp/",
                                                             "dsl/text/",
                                                             "codegen/",
                                                             "runtime/support/",
                                                             "runtime/data/",
                                                             "runtime/simt/",
                                                             "runtime/judge/",
                                                             "runtime/laws/",
                                                             "runtime/backends/",

                                                             "runtime/session/",
                                                             "runtime/scale/",
                                                             "runtime/measure/bench/",
                                                             "runtime/measure/charts/",
                                                             "runtime/measure/times/",
                                                             "runtime/measure/tune/",
                                                             "runtime/check/",
                                                             "runtime/papers/",
                                                             "runtime/include/",
                                                             "runtime/examples/",
                                                             "runtime/python/",
                                                             "runtime/cli/",
                                                             "tests/"});
    if (path.starts_with("dsl/message/")) {  // beside the trees, whose places it tells
        return 0;
    }
    int found = -1;
    for (std::size_t i = 0; i < kOrder.size(); ++i) {
        if (path.starts_with(kOrder[i])) {
            found = static_cast<int>(i);
        }
    }
    return found;
}

bool is_cccl(std::string_view path)
{
    return path.starts_with("thrust/") || path.starts_with("cub/") || path.starts_with("cuda/std/");
}

constexpr const char* kDirection =
    "points up: the direction is dsl <- codegen <- runtime, in dsl trees <- evaluation <- check <- rewrite "
    "<- laws <- smt <- cpp <- text, and in runtime support <- data <- simt <- judge <- laws <- backends <- "
    "session <- scale <- measure <- check <- papers <- cli, python";

/// What is wrong with an include of `path` in `file`, or nothing.
std::string objection(std::string_view file, std::string_view path)
{
    if (height(path) > height(file)) {
        return kDirection;
    }
    if (path.starts_with("runtime/python/") && !file.starts_with("runtime/python/")) {
        return "includes the Python package; nobody else may";
    }
    if (path.starts_with("runtime/cli/") && !file.starts_with("runtime/cli/") &&
        !file.starts_with("tests/")) {
        return "includes the program; only the program and its tests may";
    }
    if (is_cccl(path) && !file.starts_with("runtime/backends/thrust/") &&
        !file.starts_with("runtime/examples/") && !file.starts_with("tests/benchmark/") &&
        !file.starts_with("runtime/python/benchmark/")) {
        return "includes CCCL, which only runtime/backends/thrust, the examples and benchmarks may";
    }
    return {};
}

TEST(Layering, KnowsWrongIncludes)
{
    EXPECT_EQ(included("  #include \"dsl/type.h\"  // why"), "dsl/type.h");
    EXPECT_EQ(included("#include <vector>"), "vector");
    EXPECT_EQ(included("// #include <vector>"), "");
    EXPECT_EQ(objection("runtime/judge/compare.cpp", "dsl/type.h"), "");
    EXPECT_EQ(objection("runtime/cli/verbs/run.cpp", "runtime/cli/arguments/arguments.h"), "");
    EXPECT_EQ(objection("runtime/backends/thrust/reduce.cu", "thrust/reduce.h"), "");
    EXPECT_EQ(objection("runtime/session/session.cpp", "runtime/backends/backend.h"), "");
    EXPECT_EQ(objection("dsl/type.cpp", "codegen/emit.h"), kDirection);
    EXPECT_EQ(objection("dsl/laws/laws.cpp", "dsl/evaluation/interpreter.h"), "");
    EXPECT_EQ(objection("dsl/check/check.cpp", "dsl/laws/laws.h"), kDirection);
    EXPECT_EQ(objection("runtime/data/segments.cpp", "runtime/judge/compare.h"), kDirection);
    EXPECT_EQ(objection("runtime/session/session.cpp", "runtime/measure/tune/search.h"), kDirection);
    EXPECT_EQ(objection("runtime/judge/compare.cpp", "runtime/cli/arguments/arguments.h"), kDirection);
    EXPECT_EQ(objection("runtime/judge/compare.cpp", "thrust/reduce.h"),
              "includes CCCL, which only runtime/backends/thrust, the examples and benchmarks may");
    EXPECT_EQ(objection("runtime/examples/from_cub.cu", "cub/device/device_reduce.cuh"), "");
}

TEST(Layering, IncludesPointDown)
{
    const auto files = cpp_files();
    ASSERT_GT(files.size(), 10U);
    for (const auto& file : files) {
        for (const auto& line : lines_of(file)) {
            const std::string wrong = objection(file, included(line.text));
            EXPECT_TRUE(wrong.empty()) << place(line) << "\n    " << wrong;
        }
    }
}

TEST(Layering, IncludesOfThisProjectExist)
{
    for (const auto& file : cpp_files()) {
        for (const auto& line : lines_of(file)) {
            const auto path = included(line.text);
            if (height(path) >= 0) {
                EXPECT_TRUE(fs::exists(fs::path(SEGFOLD_SOURCE_DIR) / path))
                    << place(line) << "\n    no such file";
            }
        }
    }
}

/// The CMakeLists.txt that builds a source: that of its folder, else of the next folder above that has one.
fs::path cmake_list_of(const std::string& file)
{
    fs::path folder = fs::path(file).parent_path();
    while (!fs::exists(fs::path(SEGFOLD_SOURCE_DIR) / folder / "CMakeLists.txt")) {
        folder = folder.parent_path();
    }
    return folder / "CMakeLists.txt";
}

/// What stands between blanks and brackets in a file.
std::set<std::string> words_of(const std::string& file)
{
    std::set<std::string> words;
    for (const auto& line : lines_of(file)) {
        std::istringstream stream(std::regex_replace(line.text, std::regex("[()]"), " "));
        words.insert(std::istream_iterator<std::string>(stream), {});
    }
    return words;
}

TEST(Layering, EverySourceIsListed)
{
    std::map<std::string, std::set<std::string>> words_of_lists;
    for (const auto& file : cpp_files()) {
        if (!file.ends_with(".cpp") || file.starts_with("tests/fuzz/") ||  // run.sh builds the fuzzer,
            file.starts_with("runtime/python/benchmark/")) {               // the benchmark its library
            continue;
        }
        const fs::path list = cmake_list_of(file);
        const fs::path wanted = fs::path(file).lexically_relative(list.parent_path());
        std::set<std::string> names = {wanted};
        if (list ==
            "tests/CMakeLists.txt") {  // names tests without suffix, benchmarks and mutants by their stems
            names.insert({fs::path(wanted).replace_extension(), wanted.stem()});
        }
        auto& words = words_of_lists[list];
        if (words.empty()) {
            words = words_of(list);
        }
        EXPECT_TRUE(std::ranges::any_of(names, [&](const auto& name) { return words.contains(name); }))
            << file << " is not listed in " << list.string() << " as " << wanted;
    }
}

TEST(Layering, HandWrittenFilesAreShort)
{
    auto files = cpp_files();
    std::ranges::copy(files_below("kernels", {".cu", ".cuh"}), std::back_inserter(files));
    for (const auto& file : files) {
        const auto count = lines_of(file).size();
        EXPECT_LE(count, static_cast<std::size_t>(kMaxLines)) << file << ": " << count << " lines; split it";
    }
}

TEST(Layering, FoldersOfCodeHaveRooms)
{
    constexpr int most_files = 25;  // more want rooms
    auto files = cpp_files();
    std::ranges::copy(files_below("kernels", {".cu", ".cuh", ".cpp", ".h"}), std::back_inserter(files));
    std::map<std::string, int> counts;
    for (const auto& file : files) {
        ++counts[fs::path(file).parent_path()];
    }
    for (const auto& [folder, count] : counts) {
        EXPECT_LE(count, most_files) << folder << " holds " << count << " files of code; give it rooms";
    }
}

/// Several are compiled as one; names of their unnamed namespaces may meet all the same.
TEST(Layering, TestsHaveNamespacesOfTheirOwn)
{
    for (const auto& file : files_below("tests", {".cpp"})) {
        if (!file.ends_with("_test.cpp")) {
            continue;
        }
        const auto wanted = "::" + fs::path(file).stem().string() + " {";
        EXPECT_TRUE(std::ranges::any_of(lines_of(file),
                                        [&](const Line& line) {
                                            return line.text.starts_with("namespace ") &&
                                                   line.text.ends_with(wanted);
                                        }))
            << file << " has no 'namespace segfold" << wanted << "'";
    }
}

TEST(Layering, HeadersAreGuardedByPragma)
{
    for (const auto& file : cpp_files()) {
        if (!file.ends_with(".h") ||
            file.starts_with("runtime/simt/shim/")) {  // text put in front of a kernel
            continue;
        }
        const auto lines = lines_of(file);
        ASSERT_GE(lines.size(), 2U) << file;
        EXPECT_EQ(lines[0].text, "#pragma once") << file;
        EXPECT_TRUE(lines[1].text.starts_with("//")) << file << ":2: a header says first what it is for";
    }
}

/// Types of one name in two headers of one namespace are two definitions of it: templates of both share code.
TEST(Layering, TypesOfANamespaceHaveOneHeader)
{
    const std::regex type("^(?:struct|class) (\\w+)(?: final)?(?: :.*)? ?\\{?$");
    std::map<std::string, std::string> header_of;
    for (const auto& file : cpp_files()) {
        if (!file.ends_with(".h") || file.starts_with("tests/") || file.starts_with("runtime/simt/shim/")) {
            continue;
        }
        std::vector<std::string> spaces;
        for (const auto& line : lines_of(file)) {
            std::smatch match;
            if (line.text.starts_with("namespace ") && line.text.ends_with("{")) {
                spaces.push_back(line.text);
            } else if (line.text.starts_with("}  // namespace") && !spaces.empty()) {
                spaces.pop_back();
            } else if (!spaces.empty() && std::regex_match(line.text, match, type)) {
                std::string name;
                for (const auto& space : spaces) {
                    name += space;
                }
                const auto [known, is_new] = header_of.emplace(name + match[1].str(), file);
                EXPECT_TRUE(is_new || known->second == file)
                    << place(line) << "\n    is defined in " << known->second << ", too";
            }
        }
    }
    EXPECT_GT(header_of.size(), 100U);
}

/// The value of `//% KEY VALUE` in a stage file; empty where there is no such line.
std::string front_matter(const std::vector<Line>& lines, const std::string& wanted)
{
    for (const auto& line : lines) {
        std::istringstream words(line.text);
        std::string mark;
        std::string key;
        std::string value;
        if (words >> mark >> key && mark == "//%" && key == wanted) {
            std::getline(words >> std::ws, value);
            return value;
        }
    }
    return {};
}

TEST(Layering, StagesHaveFrontMatter)
{
    const auto files = files_below("kernels/stages", {".cu"});
    ASSERT_FALSE(files.empty()) << "kernels/stages holds no stage";
    for (const auto& file : files) {
        const auto lines = lines_of(file);
        EXPECT_EQ(front_matter(lines, "stage"), fs::path(file).stem())
            << file << ": '//% stage' names the file";
        for (const char* key : {"title", "source", "layout", "launch"}) {
            EXPECT_NE(front_matter(lines, key), "") << file << ": no '//% " << key << "' line";
        }
    }
}

}  // namespace
}  // namespace segfold::layering_test
