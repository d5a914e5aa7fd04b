#pragma once
// segfold cache export and import: compiled kernels for machines without a compiler.
#include <vector>

#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The flags of `cache export`.
std::vector<Flag> cache_flags();

/// Implements `cache export FILE OP`; `words` begin with the file.
int export_kernels(const Words& words);

/// Implements `cache import FILE`; `words` begin with the file.
int import_kernels(const Words& words);

}  // namespace segfold::cli
