#pragma once
// The two streams of the program: results on standard output, everything else on standard error.
#include <chrono>
#include <string>
#include <string_view>

namespace segfold::cli {

/// `text` with escapes for characters that would steer a terminal; ends of lines and tabs stay.
[[nodiscard]] std::string presentable(std::string_view text);

/// Writes text for people to standard output, made presentable().
///
/// A reader that has gone away is no error; a full disk is an InputError.
void write_output(std::string_view text);

/// Writes a document for programs (a cubin, CUDA text, JSON) as it is; fails as write_output() does.
void write_document(std::string_view bytes);

/// Writes "segfold: MESSAGE" to standard error, presentable(); words of more than 512 letters are cut.
void write_error(std::string_view message);

/// One line of progress on standard error, if that is a terminal; otherwise nothing.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Replaces the line.
    void show(const std::string& line);
    /// Removes the line, so that others can write.
    void clear();

private:
    bool is_terminal_;
    bool is_shown_ = false;
};

/// Estimates the rest of a task's time from the part done.
class Countdown {
public:
    /// ", about 40 s left"; nothing in the first second, when nobody can tell.
    [[nodiscard]] std::string text(std::size_t done, std::size_t all) const;

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace segfold::cli
