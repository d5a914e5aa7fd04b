#pragma once
// The kinds of errors, and the exit code of the program for each.
#include <stdexcept>
#include <string>

namespace segfold {

/// Base of every exception of this project. The program ends with `exit_code`.
class Error : public std::runtime_error {
public:
    Error(const std::string& message, int exit_code) : std::runtime_error(message), exit_code_(exit_code) {}
    [[nodiscard]] int exit_code() const { return exit_code_; }

private:
    int exit_code_;
};

/// A fault in a text that the user wrote, such as an operator or a stage file. The message shows the place,
/// an excerpt and a caret.
class SpecError : public Error {
public:
    explicit SpecError(const std::string& message) : Error(message, 2) {}
};

/// A fault in arrays, files or flags. The message names the object, the value found and a right value.
class InputError : public Error {
public:
    explicit InputError(const std::string& message) : Error(message, 2) {}
};

/// A failure of the device, the driver, a compiler or a disk.
class DeviceError : public Error {
public:
    explicit DeviceError(const std::string& message) : Error(message, 3) {}
};

/// A fault of this project itself: an invariant of its code does not hold.
class InternalError : public Error {
public:
    explicit InternalError(const std::string& message) : Error("internal error: " + message, 4) {}
};

}  // namespace segfold
