#pragma once
// Places in the text of a user, and messages that point at these places.
#include <memory>
#include <string>
#include <string_view>

#include "dsl/error.h"

namespace segfold {

/// A place in the text of an operator, or in the C++ source that defines it. Line 0 means that there is none.
struct Position {
    int line = 0;                ///< from 1
    int column = 0;              ///< from 1, in bytes
    int length = 1;              ///< bytes to underline
    const char* file = nullptr;  ///< the C++ source, a string that is never freed; null for a place in a text
};

/// A text and its name in messages: the path of a file, or "--op".
struct SourceText {
    std::string name;
    std::string text;
};

using SourcePointer = std::shared_ptr<const SourceText>;

/// Returns the number of bytes of the UTF-8 sequence at the beginning of `text`; 0 if the bytes are not
/// UTF-8.
std::size_t utf8_length(std::string_view text);

/// Makes an error with the message `NAME:LINE:COLUMN: message`, the line itself, a caret under `position`,
/// and `hint`.
///
/// For a place in C++, the message is `FILE:LINE: message; hint`. Without a source or a line, it is `message`
/// alone. Long lines are cut around the caret. The excerpt is always valid UTF-8.
SpecError spec_error(const SourcePointer& source, Position position, const std::string& message,
                     const std::string& hint = {});

}  // namespace segfold
