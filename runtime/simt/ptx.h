#pragma once
// Inline PTX in emitted texts, as calls that an ordinary compiler understands.
#include <string>

namespace segfold::simt {

/// Replaces the statements of the asynchronous copies (cp.async and its kin, `asm volatile`), of clusters
/// (their barrier, mapa), of the conversions of 16-bit floats (cvt) and of the reciprocal by calls to the
/// shim.
///
/// No line moves. Other statements stay as they are, and the compiler will refuse them.
std::string replace_ptx(std::string source);

}  // namespace segfold::simt
