#pragma once
// The page of 'segfold help language', made from sections of dsl/README.md.
#include <string>

namespace segfold::cli {

/// Returns the description of the operator language as one page for a terminal.
std::string language_page();

}  // namespace segfold::cli
