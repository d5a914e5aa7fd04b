#pragma once
// Values that a library keeps for as long as anybody may ask for them.
#include <functional>
#include <type_traits>

namespace segfold {

/// The result of `make`, never destroyed: `static const auto& known = lasting([] { ... });`.
///
/// A program may fold while its own static objects are destroyed, and on threads that still run when main()
/// has returned. Static objects of this library are made later, so they would be destroyed before.
template <class Make>
[[nodiscard]] auto& lasting(const Make& make)
{
    return *new std::invoke_result_t<const Make&>(std::invoke(make));
}

}  // namespace segfold
