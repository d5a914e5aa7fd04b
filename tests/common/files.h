#pragma once
// Helpers for tests of files: a folder that is removed, reading and writing bytes, and the message of an
// error.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "dsl/array.h"
#include "dsl/error.h"

namespace segfold {

/// A folder for the files of one test, removed at its end.
class TemporaryFolder {
public:
    TemporaryFolder()
    {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        path_ = std::filesystem::temp_directory_path() /
                ("segfold_" + std::to_string(getpid()) + "_" + test->test_suite_name() + "_" + test->name());
        std::filesystem::create_directories(path_);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

    /// Writes a file, makes missing folders, and returns the file's path.
    [[nodiscard]] std::string write(const std::string& name, const std::string& bytes) const
    {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(file(name), std::ios::binary) << bytes;
        return file(name);
    }

    [[nodiscard]] std::size_t count() const
    {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
    }

private:
    std::filesystem::path path_;
};

inline std::string read_text(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Returns the message of the InputError that `call` must throw, without `prefix`.
template <class Call>
std::string refusal(Call call, const std::string& prefix = "")
{
    try {
        call();
    } catch (const InputError& error) {
        const std::string message = error.what();
        return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
    }
    return "nothing was refused";
}

template <class T>
Array make_array(Type type, std::initializer_list<T> values)
{
    return Array::of<T>(type, std::span<const T>(values.begin(), values.size()));
}

template <class T>
std::vector<T> to_vector(const Array& array)
{
    const auto values = array.as<T>();
    return {values.begin(), values.end()};
}

/// Every element of an i32 or i64 array.
inline std::vector<std::int64_t> to_integers(const Array& array)
{
    if (array.type() == Type::i64)
        return to_vector<std::int64_t>(array);
    const auto values = array.as<std::int32_t>();
    return {values.begin(), values.end()};
}

/// Calls `read` with every truncation of `bytes` and with each bit flipped. `read` may throw InputError, and
/// nothing else.
template <class Read>
void expect_no_crash(const TemporaryFolder& folder, const std::string& name, const std::string& bytes,
                     Read read)
{
    std::size_t refused = 0;
    const auto attempt = [&](const std::string& damaged) {
        const std::string path = folder.write(name, damaged);
        try {
            read(path);
        } catch (const InputError& error) {
            ++refused;
            EXPECT_TRUE(std::string(error.what()).starts_with(path)) << error.what();
        }
    };
    for (std::size_t size = 0; size < bytes.size(); ++size)
        attempt(bytes.substr(0, size));
    EXPECT_GT(refused, bytes.size() / 2);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        std::string damaged = bytes;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
        attempt(damaged);
    }
}

}  // namespace segfold
