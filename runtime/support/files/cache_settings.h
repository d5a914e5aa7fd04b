#pragma once
// Settings of the kernel cache: its folder and its size.
#include <cstdint>
#include <filesystem>

namespace segfold::cache {

inline constexpr std::uint64_t kDefaultBytes = std::uint64_t{256} << 20;

struct Settings {
    bool is_on = true;
    std::filesystem::path folder;  ///< absolute; empty if no environment variable determines a folder
    std::uint64_t most_bytes = kDefaultBytes;
};

/// Reads SEGFOLD_CACHE (on, off), SEGFOLD_CACHE_DIR (an absolute path) and SEGFOLD_CACHE_BYTES (268435456,
/// 256M).
///
/// The default folder is `$XDG_CACHE_HOME/segfold/kernels`, else `~/.cache/segfold/kernels`. Throws
/// InputError for an invalid value; an empty value counts as unset.
[[nodiscard]] Settings settings_from_environment();

/// Message if the cache is on but no environment variable determines its folder.
inline constexpr std::string_view kNoFolder =
    "none of SEGFOLD_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder; SEGFOLD_CACHE=off says nothing of it";

}  // namespace segfold::cache
