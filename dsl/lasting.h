#pragma once
// Values of a library that are never destroyed.
#include <functional>
#include <type_traits>

namespace segfold {

/// Returns the value of `make` in memory that is never freed. Use: `static const auto& known = lasting([] {
/// ... });`.
///
/// A program may fold while its own static objects are destroyed, or on threads that outlive main(). Ordinary
/// static objects of this library might be destroyed before that.
template <class Make>
[[nodiscard]] auto& lasting(const Make& make)
{
    return *new std::invoke_result_t<const Make&>(std::invoke(make));
}

}  // namespace segfold
