#pragma once
// Compares emitted texts with the files of tests/golden, which UPDATE_GOLDEN=1 rewrites.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
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

/// Returns the first line that differs, with the lines around it. A line begins with " " if it is in both,
/// "-" if in the file, "+" if in the text.
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

/// True if this run rewrites the files of tests/golden instead of comparing with them.
inline bool updates_golden()
{
    const char* update = std::getenv("UPDATE_GOLDEN");
    return update && std::string_view(update) == "1";
}

/// The file tests/golden/`name`.
inline std::filesystem::path golden_path(const std::string& name)
{
    return std::filesystem::path(SEGFOLD_SOURCE_DIR) / "tests" / "golden" / name;
}

inline void write_golden(const std::filesystem::path& path, const std::string& text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

/// Expects `actual` to be tests/golden/`name`, byte for byte.
inline void expect_golden(const std::string& name, const std::string& actual)
{
    if (updates_golden()) {
        write_golden(golden_path(name), actual);
        return;
    }
    std::ifstream in(golden_path(name), std::ios::binary);
    const bool exists = in.good();
    const std::string expected(std::istreambuf_iterator<char>(in), {});
    if (exists && expected == actual)
        return;
    const auto kept = std::filesystem::path(testing::TempDir()) / "segfold_golden" / name;
    write_golden(kept, actual);
    ADD_FAILURE() << "tests/golden/" << name
                  << (exists ? " differs at " + first_difference(expected, actual) : " does not exist\n")
                  << "the actual text is " << kept.string() << "; UPDATE_GOLDEN=1 accepts it";
}

/// Compares a text with its SHA-256 in tests/golden/`file`. Returns the message of a failure, or "".
///
///   row       STAGE,TEXT, as the file names it
///   expected  the hash in the file; empty if the file has no such row
///   command   prints the text
inline std::string hash_difference(const std::string& file, const std::string& row,
                                   const std::string& expected, const std::string& actual,
                                   const std::string& command)
{
    if (expected == actual)
        return "";
    const auto what = expected.empty() ? "has no row '" + row + "'; the SHA-256 of the text is " + actual
                                       : "row '" + row + "': the text has changed; its SHA-256 is " + actual +
                                             ", the file has " + expected;
    return "tests/golden/" + file + " " + what + "\nto print the text:  " + command +
           (expected.empty()
                ? "\n"
                : "\nto see what changed, compare with what a build before the change prints; ") +
           "UPDATE_GOLDEN=1 accepts it";
}

/// Hashes by "STAGE,TEXT".
using Hashes = std::map<std::string, std::string>;

constexpr const char* kHashesHead = "stage,text,sha256";

/// Reads tests/golden/`file`.
inline Hashes read_hashes(const std::string& file)
{
    Hashes rows;
    std::ifstream in(golden_path(file), std::ios::binary);
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(line, kHashesHead) << "tests/golden/" << file;
    while (std::getline(in, line)) {
        const auto comma = line.rfind(',');
        EXPECT_TRUE(comma != std::string::npos &&
                    rows.emplace(line.substr(0, comma), line.substr(comma + 1)).second)
            << "tests/golden/" << file << ": '" << line << "'";
    }
    return rows;
}

/// Expects every row of tests/golden/`file` to be one of `rows`. UPDATE_GOLDEN=1 writes them first.
inline void expect_rows(const std::string& file, const Hashes& rows)
{
    if (updates_golden()) {
        std::string text = std::string(kHashesHead) + "\n";
        for (const auto& [row, hash] : rows)
            text += row + "," + hash + "\n";
        write_golden(golden_path(file), text);
    }
    for (const auto& [row, hash] : read_hashes(file))
        EXPECT_TRUE(rows.contains(row)) << "tests/golden/" << file << " row '" << row
                                        << "' belongs to no text; UPDATE_GOLDEN=1 removes it";
}

}  // namespace segfold
