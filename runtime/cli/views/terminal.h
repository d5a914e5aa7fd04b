#pragma once
// Writes to the program's output streams. Results go to standard output, everything else to standard error.
#include <chrono>
#include <string>
#include <string_view>

namespace segfold::cli {

/// Returns `text` with control characters escaped, except newlines and tabs.
[[nodiscard]] std::string presentable(std::string_view text);

/// Writes presentable(`text`), meant for people, to standard output.
///
/// A closed pipe is not an error. Throws InputError if the disk is full.
void write_output(std::string_view text);

/// Writes a document for programs (a cubin, CUDA source, JSON) unchanged. Handles errors like write_output().
void write_document(std::string_view bytes);

/// Writes presentable("segfold: MESSAGE") to standard error. Shortens words of more than 512 characters.
void write_error(std::string_view message);

/// Shows a progress line on standard error if that is a terminal. Otherwise does nothing.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Replaces the shown line by `line`.
    void show(const std::string& line);
    /// Erases the line, so that other text can be written.
    void clear();

private:
    bool is_terminal_;
    bool is_shown_ = false;
};

/// Estimates the remaining time of a task.
class Countdown {
public:
    /// Returns a text such as ", about 40 s left", given that `done` of `all` steps are finished. Empty in
    /// the first second.
    [[nodiscard]] std::string text(std::size_t done, std::size_t all) const;

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace segfold::cli
