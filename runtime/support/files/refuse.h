#pragma once
// How readers and writers of files say what is wrong.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <system_error>

#include "dsl/error.h"

namespace segfold {

/// Throws InputError: the file, or the place in it, then what is wrong.
[[noreturn]] inline void refuse(std::string_view where, std::string_view what)
{
    throw InputError(fmt::format("{}: {}", where, what));
}

/// What the system says of an errno.
inline std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace segfold
