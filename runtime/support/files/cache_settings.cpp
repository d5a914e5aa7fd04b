#include "runtime/support/files/cache_settings.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "dsl/error.h"
#include "runtime/support/files/user_folders.h"

namespace segfold::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargest = std::uint64_t{1} << 50;

std::string_view variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

bool read_switch(std::string_view text)
{
    if (!text.empty() && text != "on" && text != "off")
        throw InputError(fmt::format("SEGFOLD_CACHE is '{}'; it takes on or off", text));
    return text != "off";
}

// Reads decimal digits, optionally followed by K, M or G for powers of 1024.
std::optional<std::uint64_t> read_size(std::string_view text)
{
    int shift = 0;
    const std::string_view units = "KMG";
    if (const auto unit = text.empty() ? units.npos : units.find(text.back()); unit != units.npos) {
        shift = 10 * (static_cast<int>(unit) + 1);
        text.remove_suffix(1);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > kLargest >> shift)
        return std::nullopt;
    return value << shift;
}

fs::path read_folder(std::string_view text)
{
    if (!text.empty() && text.front() != '/')
        throw InputError(fmt::format("SEGFOLD_CACHE_DIR is '{}'; it takes an absolute path, e.g. /var/tmp/{}",
                                     text, text));
    if (!text.empty())
        return text;
    return user_cache_folder("kernels");
}

}  // namespace

Settings settings_from_environment()
{
    Settings settings;
    settings.is_on = read_switch(variable("SEGFOLD_CACHE"));
    settings.folder = read_folder(variable("SEGFOLD_CACHE_DIR"));
    if (const auto text = variable("SEGFOLD_CACHE_BYTES"); !text.empty()) {
        const auto size = read_size(text);
        if (!size)
            throw InputError(fmt::format(
                "SEGFOLD_CACHE_BYTES is '{}'; it takes a number of bytes from 1 to 2^50, e.g. 268435456 or "
                "256M (K, M, G are powers of 1024)",
                text));
        settings.most_bytes = *size;
    }
    return settings;
}

}  // namespace segfold::cache
