#pragma once
// Warp shuffles of numbers of any type.
#include <string>
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// The text that shuffles `value`: a call of `intrinsic`, as `__shfl_sync`, among the lanes of `mask`.
///
/// Shuffles move 32 and 64 bits. Narrower integers travel as int, the 16-bit formats as their bits.
std::string shuffle_call(Type type, std::string_view value, std::string_view intrinsic, std::string_view mask,
                         std::string_view argument);

}  // namespace segfold
