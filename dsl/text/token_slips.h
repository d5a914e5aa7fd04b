#pragma once
// Signs of C, Python and Rust, alone and beside others, and what to write instead of them here.
#include <span>
#include <string>

#include "dsl/text/lexer.h"

namespace segfold {

/// What to write instead of `tokens[at]`, which the grammar refuses; "" if it is no known slip.
std::string advice_at(std::span<const Token> tokens, std::size_t at);

}  // namespace segfold
