#pragma once
// Compares text with a file below tests/golden, or writes the file when UPDATE_GOLDEN=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

inline std::vector<std::string> lines_of(std::string_view text)
{
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

/// The first line that differs, with the lines around it: " " both, "-" the file, "+" the text.
inline std::string first_difference(std::string_view expected, std::string_view actual)
{
    const auto file = lines_of(expected);
    const auto text = lines_of(actual);
    std::size_t at = 0;
    while (at < file.size() && at < text.size() && file[at] == text[at])
        ++at;
    std::string shown = "line " + std::to_string(at + 1) + ":\n";
    for (std::size_t i = at < 3 ? 0 : at - 3; i < at; ++i)
        shown += "  " + file[i] + "\n";
    for (std::size_t i = at; i < at + 4 && i < file.size(); ++i)
        shown += "- " + file[i] + "\n";
    for (std::size_t i = at; i < at + 4 && i < text.size(); ++i)
        shown += "+ " + text[i] + "\n";
    return shown;
}

/// Expects `actual` to be tests/golden/`name`, byte for byte.
inline void expect_golden(const std::string& name, const std::string& actual)
{
    namespace fs = std::filesystem;
    const auto write = [&](const fs::path& path) {
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << actual;
        return path.string();
    };
    const fs::path golden = fs::path(SEGFOLD_SOURCE_DIR) / "tests" / "golden" / name;
    const char* update = std::getenv("UPDATE_GOLDEN");
    if (update && std::string_view(update) == "1") {
        write(golden);
        return;
    }
    std::ifstream in(golden, std::ios::binary);
    const bool exists = in.good();
    const std::string expected(std::istreambuf_iterator<char>(in), {});
    if (exists && expected == actual)
        return;
    const auto kept = write(fs::path(testing::TempDir()) / "segfold_golden" / name);
    ADD_FAILURE() << "tests/golden/" << name
                  << (exists ? " differs at " + first_difference(expected, actual) : " does not exist\n")
                  << "the actual text is " << kept << "; UPDATE_GOLDEN=1 accepts it";
}

}  // namespace segfold
