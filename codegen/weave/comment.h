#pragma once
// Comments in emitted text. A user's words in a comment must never become code.
#include <optional>
#include <string>
#include <string_view>

#include "dsl/operator.h"

namespace segfold {

/// Returns `text` with each line as a `//` comment.
///
/// Except for names, a user's words enter emitted text only through this function. It escapes three things:
/// characters that end a line for some C++ compilers, a backslash at the end of a line (it would continue the
/// comment), and everything that visible() escapes. Tabs become blanks.
std::string comment_lines(std::string_view text);

/// Returns the operator's text form as a comment, in lines of at most kWidestLine characters.
std::string operator_comment(const Operator& op);

/// Returns `source` with its comments replaced by blanks. Code keeps its position, so a search in the result
/// finds only code.
std::string without_comments(std::string_view source);

/// A comment that a compiler may read differently from a person.
struct CommentFault {
    int line;          ///< line at which the comment begins, from 1
    std::string what;  ///< "holds '\x0c', which is not shown"
};

/// Finds the first faulty comment of `source`. A comment is faulty if it has an invisible character, or one
/// that may end or continue the comment's line for a compiler. Tabs and a carriage return before a newline
/// are allowed.
std::optional<CommentFault> find_comment_fault(std::string_view source);

/// Throws InternalError if a compiler may read `source` differently from a person.
///
/// find_comment_fault() must find nothing, and the operator in the heading must read back as `op`. Every
/// emitted text passes this check before it is compiled.
void check_emitted(std::string_view source, const Operator& op);

/// Checks the comments of a text that contains no operator. Throws InternalError if find_comment_fault()
/// finds a fault.
void check_comments(std::string_view source);

}  // namespace segfold
