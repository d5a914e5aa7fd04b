#pragma once
// Turns inline PTX in emitted texts into calls that an ordinary compiler understands.
#include <string>

namespace segfold::simt {

/// Replaces `asm` statements in `source` by calls to functions of the shim.
///
/// Handles the asynchronous copies (cp.async and similar), the cluster's barrier and mapa, the conversions of
/// 16-bit floats (cvt), the reciprocal, the power of two and the wide product. Lines keep their numbers.
/// Other `asm` statements stay, and the compiler will refuse them.
std::string replace_ptx(std::string source);

}  // namespace segfold::simt
