#pragma once
// Throws errors about files that cannot be read or written.
#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "dsl/error.h"

namespace segfold {

/// Throws InputError "WHERE: WHAT". `where` is a file or a place in a file.
[[noreturn]] inline void refuse(std::string_view where, std::string_view what)
{
    throw InputError(fmt::format("{}: {}", where, what));
}

/// Returns the system's message for an errno value.
inline std::string error_text(int error) { return std::generic_category().message(error); }

/// Throws an error about a file that cannot be written. Throws DeviceError if the disk is full or fails.
/// Throws InputError in all other cases, because another name might work.
[[noreturn]] inline void refuse_to_write(std::string_view where, int error)
{
    const auto message = fmt::format("{}cannot be written: {}", where, error_text(error));
    if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO)
        throw DeviceError(message);
    throw InputError(message);
}

}  // namespace segfold
