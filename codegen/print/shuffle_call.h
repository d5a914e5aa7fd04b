#pragma once
// Warp shuffles of numbers of any type.
#include <string>
#include <string_view>

#include "dsl/type.h"

namespace segfold {

/// Returns a call of `intrinsic`, such as `__shfl_sync`, that shuffles `value` among the lanes of `mask`.
///
/// CUDA's shuffles move 32 or 64 bits. Narrower integers are passed as int, and 16-bit floats as their bits.
std::string shuffle_call(Type type, std::string_view value, std::string_view intrinsic, std::string_view mask,
                         std::string_view argument);

}  // namespace segfold
