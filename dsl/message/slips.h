#pragma once
// Words of C, Python and Rust, with their counterparts in this language.
#include <string>
#include <string_view>

namespace segfold {

/// Returns the counterpart of another language's word, such as `if` or `and`; empty for other words.
std::string advice_on_word(std::string_view word);

/// Returns the counterpart of another language's function, such as `fabs` or `float`; empty if none is known.
std::string advice_on_function(std::string_view name);

/// Returns the counterpart of another language's name, such as `True` or `INT_MAX`; empty if none is known.
std::string advice_on_name(std::string_view name);

/// Returns the counterpart of another language's type, such as `float` or `int64_t`; empty if none is known.
std::string_view type_like(std::string_view name);

}  // namespace segfold
