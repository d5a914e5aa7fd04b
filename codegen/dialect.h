#pragma once
// The two languages in which texts are emitted: CUDA, and C++ for the host.
#include <cstdint>
#include <string_view>

namespace segfold {

/// The language of an emitted text. `cuda` is for GPUs. `native` is C++ without headers for the host's cores;
/// GCC 12 and clang 14 compile it.
enum class Dialect : std::uint8_t { cuda, native };

/// Specifiers of inlined functions in native texts. Compilers vectorise a loop over lanes only if all
/// functions that it calls are inlined.
inline constexpr std::string_view kNativeFunction = "[[gnu::always_inline]] static inline";

/// Specifiers of native functions that are called instead of inlined.
inline constexpr std::string_view kNativeCall = "[[gnu::noinline]] static";

/// Returns the specifiers of a function in the given language. `is_called` is true for a long function that
/// is called instead of inlined.
constexpr std::string_view function_kind(Dialect dialect, bool is_called = false)
{
    if (dialect == Dialect::native)
        return is_called ? kNativeCall : kNativeFunction;
    return is_called ? "__device__ __noinline__" : "__device__ __forceinline__";
}

}  // namespace segfold
