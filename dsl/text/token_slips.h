#pragma once
// Signs of C, Python and Rust, with their counterparts in this language.
#include <span>
#include <string>

#include "dsl/text/lexer.h"

namespace segfold {

/// Returns advice on token number `at`, which the grammar does not expect; empty if it is no known slip.
std::string advice_at(std::span<const Token> tokens, std::size_t at);

}  // namespace segfold
