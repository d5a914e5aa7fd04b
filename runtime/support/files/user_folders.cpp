#include "runtime/support/files/user_folders.h"

#include <cstdlib>

namespace segfold {
namespace {

namespace fs = std::filesystem;

/// Returns the folder that an environment variable names. Empty if the variable is unset or not an absolute
/// path, which the XDG specification requires to be ignored.
fs::path absolute_folder(const char* variable)
{
    const char* value = std::getenv(variable);
    return value != nullptr && *value == '/' ? fs::path(value) : fs::path();
}

fs::path user_folder(const char* variable, const char* below_home, std::string_view name)
{
    if (const auto folder = absolute_folder(variable); !folder.empty())
        return folder / "segfold" / name;
    if (const auto home = absolute_folder("HOME"); !home.empty())
        return home / below_home / "segfold" / name;
    return {};
}

}  // namespace

fs::path user_cache_folder(std::string_view name) { return user_folder("XDG_CACHE_HOME", ".cache", name); }

fs::path user_data_folder(std::string_view name)
{
    return user_folder("XDG_DATA_HOME", ".local/share", name);
}

}  // namespace segfold
