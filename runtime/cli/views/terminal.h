#pragma once
// Writes to the program's two output streams: results go to standard output, everything else to standard
// error.
#include <chrono>
#include <string>
#include <string_view>

namespace segfold::cli {

/// Returns `text` with terminal control characters escaped; newlines and tabs stay.
[[nodiscard]] std::string presentable(std::string_view text);

/// Writes text for people to standard output, after presentable().
///
/// It is no error if the reader has closed the pipe. Throws InputError if the disk is full.
void write_output(std::string_view text);

/// Writes a document for programs (a cubin, CUDA text, JSON) unchanged. Handles errors like write_output().
void write_document(std::string_view bytes);

/// Writes "segfold: MESSAGE" to standard error, after presentable(). Cuts words of more than 512 letters.
void write_error(std::string_view message);

/// Shows a progress line on standard error if that is a terminal; otherwise does nothing.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Replaces the shown line.
    void show(const std::string& line);
    /// Removes the line, so that other text can be written.
    void clear();

private:
    bool is_terminal_;
    bool is_shown_ = false;
};

/// Estimates the remaining time of a task from the part that is done.
class Countdown {
public:
    /// Returns ", about 40 s left"; "" in the first second, when no estimate is possible.
    [[nodiscard]] std::string text(std::size_t done, std::size_t all) const;

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace segfold::cli
