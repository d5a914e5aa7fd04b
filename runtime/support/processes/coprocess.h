#pragma once
// A program that runs beside this process and exchanges lines of text with it.
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "runtime/support/processes/child.h"

namespace segfold {

/// A program that runs while this object lives. A socket connects its standard input and output to this
/// process; its standard error is discarded.
///
/// The program has its own process group, so that a keyboard interrupt reaches only this process. After
/// remove_leftovers_at_signals(), a signal that ends this process also ends the program.
class Coprocess {
public:
    enum class Wait : std::uint8_t { answered, ended, late };

    /// Starts `arguments[0]`. Throws DeviceError if that fails.
    explicit Coprocess(const std::vector<std::string>& arguments);
    /// Ends the program as stop() does.
    ~Coprocess();
    Coprocess(const Coprocess&) = delete;
    Coprocess& operator=(const Coprocess&) = delete;

    /// Sends text. Returns false if the program has closed its side.
    [[nodiscard]] bool send(const std::string& text);
    /// Waits up to `seconds` for a line from the program and stores it without its newline.
    [[nodiscard]] Wait receive(std::string& line, double seconds);
    /// Ends the program at once.
    void kill();
    /// Ends the program, after giving it 0.1 s to end by itself. Returns text such as "ended with exit code
    /// 3".
    std::string stop();

private:
    pid_t process_ = -1;
    int socket_ = -1;
    std::string buffer_;
    std::optional<Child> ends_with_us_;
};

}  // namespace segfold
