#pragma once
// What must hold of every text, whatever its bytes: shared by the fuzzer and the test that replays the
// corpus.
#include <string>

namespace segfold {

/// Reads `text` as an operator and as an expression, prints what was accepted, reads that again, and runs it.
///
/// Returns what does not hold, or nothing. Crashes, hangs and exceptions that no reader may throw are the
/// caller's to see.
std::string find_fault(const std::string& text);

}  // namespace segfold
