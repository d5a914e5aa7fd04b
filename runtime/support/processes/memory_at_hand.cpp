#include "runtime/support/processes/memory_at_hand.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include "dsl/error.h"

namespace segfold {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// Returns the number at the beginning of a file; nothing if the file begins with a word, such as "max".
std::optional<double> number_in(const char* path)
{
    std::ifstream file(path);
    double number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

double available_of_system()
{
    std::ifstream file("/proc/meminfo");
    for (std::string word; file >> word;)
        if (double kilobytes = 0; word == "MemAvailable:" && file >> kilobytes)
            return kilobytes * 1024;
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double left_in_group()
{
    const auto most = number_in("/sys/fs/cgroup/memory.max");
    const auto used = number_in("/sys/fs/cgroup/memory.current");
    return most && used ? std::max(*most - *used, 0.0) : kUnlimited;
}

double left_of_addresses()
{
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return kUnlimited;
    const auto pages = number_in("/proc/self/statm");
    const double used = pages.value_or(0) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return std::max(static_cast<double>(limit.rlim_cur) - used, 0.0);
}

std::string amount(double bytes)
{
    return bytes < 1e10 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.0f} GB", bytes / 1e9);
}

}  // namespace

double memory_at_hand() { return std::min({available_of_system(), left_in_group(), left_of_addresses()}); }

void require_memory(double bytes, const std::string& what)
{
    if (const double present = memory_at_hand(); bytes > present)
        throw InputError(fmt::format("{} need {} of memory, and {} are at hand; take fewer elements", what,
                                     amount(bytes), amount(present)));
}

}  // namespace segfold
