#pragma once
// Values of a library that are never destroyed.
#include <functional>
#include <type_traits>

namespace segfold {

/// Returns the value of `make` in memory that is never freed: `static const auto& known = lasting([] { ...
/// });`.
///
/// A program may fold while its own static objects are destroyed, and on threads that still run after main()
/// returns. Ordinary static objects of this library would be destroyed earlier.
template <class Make>
[[nodiscard]] auto& lasting(const Make& make)
{
    return *new std::invoke_result_t<const Make&>(std::invoke(make));
}

}  // namespace segfold
