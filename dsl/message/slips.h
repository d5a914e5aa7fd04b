#pragma once
// Words of C, Python and Rust, and their replacements in this language.
#include <string>
#include <string_view>

namespace segfold {

/// The replacement for a word of another language, such as `if` or `and`; empty for other words.
std::string advice_on_word(std::string_view word);

/// The replacement for a function of another language, such as `fabs` or `float`; empty if none is known.
std::string advice_on_function(std::string_view name);

/// The replacement for a name of another language, such as `True` or `INT_MAX`; empty if none is known.
std::string advice_on_name(std::string_view name);

/// This language's name of another language's type, such as `float` or `int64_t`; empty if none is known.
std::string_view type_like(std::string_view name);

}  // namespace segfold
