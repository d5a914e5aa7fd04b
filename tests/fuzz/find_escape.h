#pragma once
// What must hold of the CUDA text of every operator, whatever a user wrote into it: shared by a fuzzer and a
// test.
#include <string>

#include "dsl/operator.h"

namespace segfold {

/// Emits `op` in several stages and as a peer, and once more without its description.
///
/// Returns what does not hold, or nothing: the heading reads back as an equal operator, both texts are the
/// same code however comments are read, and no control character is in them.
std::string find_escape(const Operator& op);

/// The same of `text`, where it is an operator, and of one whose description `text` is.
std::string find_escape(const std::string& text);

}  // namespace segfold
