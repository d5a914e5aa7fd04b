#pragma once
// Processor time, for limits that must hold on a busy machine.
#include <sys/resource.h>

namespace segfold::test {

/// User and system time in seconds: of all threads for RUSAGE_SELF, of children that have ended for
/// RUSAGE_CHILDREN.
inline double cpu_seconds(int of_whom)
{
    rusage usage{};
    getrusage(of_whom, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The processor time of `work`, in this process and in children that end meanwhile.
template <class Work>
double cpu_seconds_of(const Work& work)
{
    const auto taken = [] { return cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN); };
    const double before = taken();
    work();
    return taken() - before;
}

}  // namespace segfold::test
