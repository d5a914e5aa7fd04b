#pragma once
// segfold cache export and import: transfer compiled kernels to machines without a compiler.
#include <vector>

#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

/// The flags of `cache export`.
std::vector<Flag> cache_flags();

/// Implements `cache export FILE OP`. The first word is FILE.
int export_kernels(const Words& words);

/// Implements `cache import FILE`. The first word is FILE.
int import_kernels(const Words& words);

}  // namespace segfold::cli
