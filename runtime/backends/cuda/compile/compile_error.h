#pragma once
// Makes the message of a failed compilation, and keeps the source in a file.
#include <filesystem>
#include <string>
#include <string_view>

namespace segfold::cuda {

/// The first error in an NVRTC log that points to a line of the program.
struct LoggedError {
    std::size_t line = 0;  ///< line number from 1; 0 if the log points to no line of the program
    std::string text;      ///< NVRTC's message
};

/// Returns the first error in NVRTC's log about the program `name`.
[[nodiscard]] LoggedError first_error(std::string_view log, std::string_view name);

/// Returns line `line` of `source`, marked, with two lines before and after it and all line numbers.
[[nodiscard]] std::string excerpt(std::string_view source, std::size_t line);

/// Returns the folder for sources that failed to compile. It is $XDG_CACHE_HOME/segfold/failed, else
/// ~/.cache/segfold/failed, else a private folder of the user among the temporary files.
[[nodiscard]] std::filesystem::path failed_source_directory();

/// Writes `source` to NAME-HASH.cu in failed_source_directory() (mode 0700) and returns the path.
///
/// The same source gets the same path. At most 100 files are kept; the oldest is removed first. Returns an
/// empty path, and does not throw, if the folder cannot be written or belongs to another user, because the
/// compiler's message must still be shown.
[[nodiscard]] std::filesystem::path keep_failed_source(std::string_view name, std::string_view source);

/// Returns the whole message of a failed compilation. It has the position and the error, the lines around the
/// position, the path of the kept source, the compiler and its log.
[[nodiscard]] std::string compile_failure(std::string_view name, std::string_view source,
                                          std::string_view compiler, std::string_view log);

}  // namespace segfold::cuda
