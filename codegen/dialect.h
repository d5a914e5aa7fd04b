#pragma once
// The two languages of emitted texts.
#include <cstdint>
#include <string_view>

namespace segfold {

/// `cuda` is for GPUs. `native` is C++ without headers, for the host's cores. GCC 12 and clang 14 compile it.
enum class Dialect : std::uint8_t { cuda, native };

/// Specifiers of functions in native texts. Compilers vectorise loops over lanes only if everything is
/// inline.
inline constexpr std::string_view kNativeFunction = "[[gnu::always_inline]] static inline";

/// Specifiers of native functions that are called instead of inlined.
inline constexpr std::string_view kNativeCall = "[[gnu::noinline]] static";

/// Specifiers of functions in either language. `is_called` is true for a long function that the text holds
/// once and calls.
constexpr std::string_view function_kind(Dialect dialect, bool is_called = false)
{
    if (dialect == Dialect::native)
        return is_called ? kNativeCall : kNativeFunction;
    return is_called ? "__device__ __noinline__" : "__device__ __forceinline__";
}

}  // namespace segfold
