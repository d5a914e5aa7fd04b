#pragma once
// A program that works beside this one and is spoken to in lines.
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "runtime/support/processes/child.h"

namespace segfold {

/// Runs while this lives. Its standard input and output are a socket that leads here, its standard error goes
/// nowhere.
///
/// It has a process group of its own: an interrupt from the keyboard is for this process alone. A signal that
/// ends this process by Leftovers' handler ends it too.
class Coprocess {
public:
    enum class Wait : std::uint8_t { answered, ended, late };

    /// Starts `arguments[0]`. Throws DeviceError when it cannot be started.
    explicit Coprocess(const std::vector<std::string>& arguments);
    /// Ends it as stop() does.
    ~Coprocess();
    Coprocess(const Coprocess&) = delete;
    Coprocess& operator=(const Coprocess&) = delete;

    /// Sends text; false where the program has closed its side.
    [[nodiscard]] bool send(const std::string& text);
    /// Waits for a line of the program, which is kept without its end.
    [[nodiscard]] Wait receive(std::string& line, double seconds);
    /// Ends it at once.
    void kill();
    /// Ends it, after 0.1 s in which it may end by itself; says how it ended: "ended with exit code 3".
    std::string stop();

private:
    pid_t process_ = -1;
    int socket_ = -1;
    std::string buffer_;
    std::optional<Child> ends_with_us_;
};

}  // namespace segfold
