#pragma once
// Words and signs of C, Python and Rust, and what to write instead of them here.
#include <span>
#include <string>
#include <string_view>

#include "dsl/lexer.h"

namespace segfold {

/// What to write where `tokens[at]` is not what the grammar asks for; empty where it is not a known slip.
std::string advice_at(std::span<const Token> tokens, std::size_t at);

/// What to write instead of a word of another language, such as `if` or `and`; empty for other words.
std::string advice_on_word(std::string_view word);

/// What to write instead of a function of another language, such as `fabs` or `float`; empty for others.
std::string advice_on_function(std::string_view name);

/// What to write instead of a name of another language, such as `True` or `INT_MAX`; empty for others.
std::string advice_on_name(std::string_view name);

/// What a type of another language, such as `float` or `int64_t`, is called here; empty for others.
std::string_view type_like(std::string_view name);

}  // namespace segfold
