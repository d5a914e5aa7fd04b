#pragma once
// Comments in emitted text. A user's words in a comment must never become code.
#include <optional>
#include <string>
#include <string_view>

#include "dsl/operator.h"

namespace segfold {

/// Returns the lines of `text` as `//` comments.
///
/// All words of users, except names, enter emitted text here and only here. C++ compilers differ in the
/// characters that end a line, and a backslash at the end of a line continues a comment. Both are escaped,
/// and so is everything that visible() escapes. Tabs become blanks.
std::string comment_lines(std::string_view text);

/// The operator's text form as a comment, in lines of at most kWidestLine letters.
std::string operator_comment(const Operator& op);

/// Replaces the comments in `source` by blanks, so that a search finds only code, at its place.
std::string without_comments(std::string_view source);

/// A comment that a compiler may read in another way than a person.
struct CommentFault {
    int line;          ///< line at which the comment begins, from 1
    std::string what;  ///< "holds '\x0c', which is not shown"
};

/// The first comment of `source` with a character that ends or continues its line, or that is not shown. Tabs
/// and a carriage return before a newline are allowed.
std::optional<CommentFault> find_comment_fault(std::string_view source);

/// Throws InternalError if a compiler may read `source` in another way than a person.
///
/// find_comment_fault() must find nothing, and the operator in the heading must read back as `op`. Every
/// emitted text passes this check before it is compiled.
void check_emitted(std::string_view source, const Operator& op);

/// Throws InternalError if find_comment_fault() finds a fault. For texts without an operator.
void check_comments(std::string_view source);

}  // namespace segfold
