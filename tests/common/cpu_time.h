#pragma once
// Time that a processor has worked, for limits that hold on a machine that others keep busy too.
#include <sys/resource.h>

namespace segfold::test {

/// User and system time of all threads, in seconds: RUSAGE_SELF, or RUSAGE_CHILDREN that have ended.
inline double cpu_seconds(int of_whom)
{
    rusage usage{};
    getrusage(of_whom, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// What `work` takes of it, of this process and of the children that end meanwhile.
template <class Work>
double cpu_seconds_of(const Work& work)
{
    const auto taken = [] { return cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN); };
    const double before = taken();
    work();
    return taken() - before;
}

}  // namespace segfold::test
