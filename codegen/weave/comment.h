#pragma once
// Comments of emitted text: a user's words in a comment must never become code.
#include <optional>
#include <string>
#include <string_view>

#include "dsl/operator.h"

namespace segfold {

/// The lines of `text` as `//` comments.
///
/// Every word of a user that is not a name enters emitted text here, and only here. C++ compilers differ in
/// what ends a line, and a backslash at its end carries a comment on: both are escaped, like everything that
/// visible() escapes. Tabs become blanks.
std::string comment_lines(std::string_view text);

/// The operator in the text form as a comment, lines at most kWidestLine letters wide.
std::string operator_comment(const Operator& op);

/// `source` with blanks in place of comments; all code keeps its place. For searches of the code.
std::string without_comments(std::string_view source);

/// A comment that a compiler may read differently from a person.
struct CommentFault {
    int line;          ///< where the comment begins, from 1
    std::string what;  ///< "holds '\x0c', which is not shown"
};

/// The first comment of `source` that holds a character that ends or continues its line, or is not shown.
/// A tab may stand in it, and a carriage return before a newline.
std::optional<CommentFault> find_comment_fault(std::string_view source);

/// Throws InternalError unless compilers read `source` as it was meant.
///
/// Asks that find_comment_fault() finds none, and that the operator in the heading reads back as `op`. Every
/// emitted text passes this check before it is compiled.
void check_emitted(std::string_view source, const Operator& op);

/// The same of a text without an operator.
void check_comments(std::string_view source);

}  // namespace segfold
