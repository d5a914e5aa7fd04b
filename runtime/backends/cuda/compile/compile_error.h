#pragma once
// The message of a failed compilation, and the file that keeps its source.
#include <filesystem>
#include <string>
#include <string_view>

namespace segfold::cuda {

/// The first error of an NVRTC log that points into the program.
struct LoggedError {
    std::size_t line = 0;  ///< from 1; 0 when the log points to no line of the program
    std::string text;      ///< NVRTC's message
};

/// Finds the first error of a log about the program called `name`.
[[nodiscard]] LoggedError first_error(std::string_view log, std::string_view name);

/// Line `line` of `source`, marked, with two lines above and below, each with its number.
[[nodiscard]] std::string excerpt(std::string_view source, std::size_t line);

/// The folder for sources that failed: $XDG_CACHE_HOME/segfold/failed, else ~/.cache/segfold/failed, else one
/// of the user's own among the temporary files.
[[nodiscard]] std::filesystem::path failed_source_directory();

/// Keeps `source` as NAME-HASH.cu in that folder (mode 0700) and returns the path.
///
/// The same source gets the same path. At most 100 files are kept; the oldest goes first. Returns an empty
/// path when the folder cannot be written or belongs to another user: a message must come out all the same.
[[nodiscard]] std::filesystem::path keep_failed_source(std::string_view name, std::string_view source);

/// The whole message: where and what, the lines around it, where the source is kept, the compiler and its
/// log.
[[nodiscard]] std::string compile_failure(std::string_view name, std::string_view source,
                                          std::string_view compiler, std::string_view log);

}  // namespace segfold::cuda
