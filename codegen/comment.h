#pragma once
// Comments of emitted text: nothing of what a user says in one may leave it.
#include <optional>
#include <string>
#include <string_view>

#include "dsl/operator.h"

namespace segfold {

/// The lines of `text` as `//` comments.
///
/// Every word of a user that is no name goes into emitted text here, and only here. C++ compilers differ in
/// what ends a line, and a backslash at its end carries a comment on: both are escaped, like everything that
/// visible() escapes. Tabs become blanks.
std::string comment_lines(std::string_view text);

/// The operator in the text form as a comment, lines at most kWidestLine letters wide.
std::string operator_comment(const Operator& op);

/// `source` with blanks in place of comments; what is left stands where it stood. For whoever looks for code.
std::string without_comments(std::string_view source);

/// What a compiler may read otherwise than a person does.
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
/// emitted text passes before anybody compiles it.
void check_emitted(std::string_view source, const Operator& op);

/// The same of a text without an operator.
void check_comments(std::string_view source);

}  // namespace segfold
