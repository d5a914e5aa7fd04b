#pragma once
// Words of C, Python and Rust, and what to write instead of them here.
#include <string>
#include <string_view>

namespace segfold {

/// What to write instead of a word of another language, such as `if` or `and`; empty for other words.
std::string advice_on_word(std::string_view word);

/// What to write instead of a function of another language, such as `fabs` or `float`; empty for others.
std::string advice_on_function(std::string_view name);

/// What to write instead of a name of another language, such as `True` or `INT_MAX`; empty for others.
std::string advice_on_name(std::string_view name);

/// The name here of another language's type, such as `float` or `int64_t`; empty for others.
std::string_view type_like(std::string_view name);

}  // namespace segfold
