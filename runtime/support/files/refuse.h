#pragma once
// How readers and writers of files say what is wrong.
#include <fmt/format.h>

#include <cerrno>
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

/// Throws for a file that cannot be written: a DeviceError where the disk is full or fails, else an
/// InputError, as another name would do.
[[noreturn]] inline void refuse_to_write(std::string_view where, int error)
{
    const auto message = fmt::format("{}cannot be written: {}", where, error_text(error));
    if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO)
        throw DeviceError(message);
    throw InputError(message);
}

}  // namespace segfold
