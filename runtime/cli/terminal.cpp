#include "runtime/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "dsl/error.h"

namespace segfold::cli {
namespace {

/// Writes all bytes; returns the error number that stopped it, or 0.
int write_all(int descriptor, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno != EINTR)
            return errno;
        if (count > 0)
            text.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
}

/// The message with words beyond all measure cut, and without what would steer a terminal.
std::string presentable(std::string_view message)
{
    constexpr std::size_t kLongestWord = 512, kKept = 60;
    std::string text;
    for (std::size_t at = 0; at < message.size();) {
        const auto end = std::min(message.find_first_of(" \n", at), message.size());
        const auto word = message.substr(at, end - at);
        text += word.size() > kLongestWord ? std::string(word.substr(0, kKept)) + "..." : std::string(word);
        text += message.substr(end, 1);
        at = end + 1;
    }
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t')
            c = '?';
    return text;
}

std::size_t terminal_columns()
{
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

void write_output(std::string_view text)
{
    const int error = write_all(STDOUT_FILENO, text);
    if (error != 0 && error != EPIPE)
        throw InputError("standard output cannot be written: " + std::generic_category().message(error));
}

void write_error(std::string_view message)
{
    // Nowhere is left to complain about this stream.
    write_all(STDERR_FILENO, "segfold: " + presentable(message) + "\n");
}

Progress::Progress() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& line)
{
    if (!is_terminal_)
        return;
    write_all(STDERR_FILENO, "\r" + line.substr(0, terminal_columns() - 1) + "\x1b[K");
    is_shown_ = true;
}

void Progress::clear()
{
    if (is_shown_)
        write_all(STDERR_FILENO, "\r\x1b[K");
    is_shown_ = false;
}

}  // namespace segfold::cli
