#pragma once
// The two languages that texts are emitted in.
#include <cstdint>
#include <string_view>

namespace segfold {

/// CUDA for GPUs; native: C++ for the host's cores, as GCC 12 and clang 14 compile it, without headers.
enum class Dialect : std::uint8_t { cuda, native };

/// Stands before a function of a native text: loops over lanes become vectors if all of it is inline.
inline constexpr std::string_view kNativeFunction = "[[gnu::always_inline]] static inline";

/// Stands before a function that all places call.
inline constexpr std::string_view kNativeCall = "[[gnu::noinline]] static";

/// The same in either language; `is_called`: of a function so long that texts have one copy of it.
constexpr std::string_view function_kind(Dialect dialect, bool is_called = false)
{
    if (dialect == Dialect::native)
        return is_called ? kNativeCall : kNativeFunction;
    return is_called ? "__device__ __noinline__" : "__device__ __forceinline__";
}

}  // namespace segfold
