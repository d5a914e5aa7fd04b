#pragma once
// Where compiled kernels are kept, and how many bytes of them.
#include <cstdint>
#include <filesystem>

namespace segfold::cache {

inline constexpr std::uint64_t kDefaultBytes = std::uint64_t{256} << 20;

struct Settings {
    bool is_on = true;
    std::filesystem::path folder;  ///< absolute; empty where neither a variable nor a home names one
    std::uint64_t most_bytes = kDefaultBytes;
};

/// What SEGFOLD_CACHE (on, off), SEGFOLD_CACHE_DIR (an absolute path) and SEGFOLD_CACHE_BYTES (268435456,
/// 256M) say.
///
/// The folder is by default `$XDG_CACHE_HOME/segfold/kernels`, else `~/.cache/segfold/kernels`. Throws
/// InputError for a value that none of them takes; an empty value counts as none.
[[nodiscard]] Settings settings_from_environment();

/// The message if the cache is on and no variable names a folder.
inline constexpr std::string_view kNoFolder =
    "none of SEGFOLD_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder; SEGFOLD_CACHE=off says nothing of it";

}  // namespace segfold::cache
