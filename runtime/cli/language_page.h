#pragma once
// The page 'segfold help language', made of the sections of dsl/README.md.
#include <string>

namespace segfold::cli {

/// The language on one page, for a terminal: parts, types, expressions, functions, precedence, grammar.
std::string language_page();

}  // namespace segfold::cli
