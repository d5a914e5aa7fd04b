#include "runtime/cli/views/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>

#include "dsl/message/visible.h"
#include "runtime/support/files/refuse.h"

namespace segfold::cli {
namespace {

/// Writes all of `text`. Returns 0, or the error number of a failed write.
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

/// Returns the message with overlong words shortened.
std::string with_short_words(std::string_view message)
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
    return text;
}

std::size_t terminal_columns()
{
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string presentable(std::string_view text)
{
    std::string result;
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of("\n\t"), text.size());
        result += visible(text.substr(0, end));
        result += text.substr(end, 1);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

void write_output(std::string_view text) { write_document(presentable(text)); }

void write_document(std::string_view bytes)
{
    const int error = write_all(STDOUT_FILENO, bytes);
    if (error != 0 && error != EPIPE)
        refuse_to_write("standard output ", error);
}

void write_error(std::string_view message)
{
    // Ignores a failed write, because it cannot be reported anywhere.
    write_all(STDERR_FILENO, "segfold: " + presentable(with_short_words(message)) + "\n");
}

Progress::Progress() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::show(const std::string& line)
{
    if (!is_terminal_)
        return;
    write_all(STDERR_FILENO, "\r" + visible(line).substr(0, terminal_columns() - 1) + "\x1b[K");
    is_shown_ = true;
}

void Progress::clear()
{
    if (is_shown_)
        write_all(STDERR_FILENO, "\r\x1b[K");
    is_shown_ = false;
}

std::string Countdown::text(std::size_t done, std::size_t all) const
{
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (seconds < 1 || done == 0 || done >= all)
        return "";
    const double left = seconds * static_cast<double>(all - done) / static_cast<double>(done);
    return left < 90 ? fmt::format(", about {:.0f} s left", std::ceil(left))
                     : fmt::format(", about {:.0f} min left", std::ceil(left / 60));
}

}  // namespace segfold::cli
