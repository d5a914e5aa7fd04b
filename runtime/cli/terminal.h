#pragma once
// The two streams of the program: results on standard output, everything else on standard error.
#include <string>
#include <string_view>

namespace segfold::cli {

/// Writes `text` to standard output. A reader that has gone away is no error; a full disk is an InputError.
void write_output(std::string_view text);

/// Writes "segfold: MESSAGE" to standard error; words of more than 512 letters are cut, control characters
/// replaced.
void write_error(std::string_view message);

/// One line on standard error that says what is going on, while that is a terminal; otherwise nothing at all.
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

}  // namespace segfold::cli
