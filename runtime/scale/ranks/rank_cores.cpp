#include "runtime/scale/ranks/rank_cores.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace segfold {
namespace {

/// Returns a text that identifies this host.
std::string host()
{
    std::string text;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        std::fopen("/proc/sys/kernel/random/boot_id", "r"), std::fclose);
    for (int c = 0; file && (c = std::fgetc(file.get())) != EOF;)
        text += static_cast<char>(c);
    return text;
}

}  // namespace

std::vector<int> share_of_cores(const std::vector<int>& cores, int place, int count)
{
    const auto at = [&](int which) {
        return static_cast<std::ptrdiff_t>(cores.size()) * which / std::max(count, 1);
    };
    const auto begin = std::min(at(place), std::ssize(cores) - 1);
    const auto end = std::max(at(place + 1), begin + 1);
    return {cores.begin() + begin, cores.begin() + end};
}

void share_cores(Communicator& ranks)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    const bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    auto mine = is_known ? host() : std::string();
    mine.append(reinterpret_cast<const char*>(&allowed), sizeof allowed);
    const auto all = ranks.all_gather(std::as_bytes(std::span(mine)));
    const auto own = static_cast<std::size_t>(ranks.rank());
    const int count = static_cast<int>(std::ranges::count(all, all[own]));
    const int place =
        static_cast<int>(std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(own), all[own]));
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &allowed))
            cores.push_back(core);
    if (!is_known || count == 1 || cores.empty())
        return;
    CPU_ZERO(&allowed);
    for (const int core : share_of_cores(cores, place, count))
        CPU_SET(core, &allowed);
    // If the system refuses, ranks share cores, which is slower but changes no result.
    (void)sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace segfold
