// Thrust's OpenMP system, compiled by the host's C++ compiler.
#define THRUST_HOST_SYSTEM THRUST_HOST_SYSTEM_CPP
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_OMP
#define THRUST_WRAPPED_NAMESPACE segfold_thrust_cpu
#include <omp.h>
#include <thrust/system/omp/execution_policy.h>
#include <thrust/system/omp/vector.h>
#include <thrust/version.h>

#include <algorithm>
#include <exception>

#include "runtime/backends/thrust/run_job.h"

namespace segfold {
namespace {

/// The Thrust system of the CPU, which uses host memory in place.
struct CpuSystem {
    static auto policy() { return THRUST_NS_QUALIFIER::omp::par; }

    template <class T>
    using Vector = THRUST_NS_QUALIFIER::omp::vector<T>;

    class Bytes {
    public:
        Bytes(void* data, std::size_t) : data_(data) {}
        [[nodiscard]] void* data() const { return data_; }
        void copy_back() {}

    private:
        void* data_;
    };
};

/// Limits a job to one thread for each 65536 elements. Waiting threads spin, and in a short job this takes
/// far more processor time than the folds do.
class ThreadsOfJob {
public:
    explicit ThreadsOfJob(const ThrustJob& job) : usual_(omp_get_max_threads())
    {
        constexpr std::int64_t kThreadElements = std::int64_t{1} << 16;
        const auto worth = std::max<std::int64_t>(job.num_elements / kThreadElements, 1);
        omp_set_num_threads(static_cast<int>(std::min<std::int64_t>(worth, usual_)));
    }
    ThreadsOfJob(const ThreadsOfJob&) = delete;
    ThreadsOfJob& operator=(const ThreadsOfJob&) = delete;
    ~ThreadsOfJob() { omp_set_num_threads(usual_); }

private:
    int usual_;
};

}  // namespace

Outcome run_on_cpu(const ThrustJob& job)
{
    const ThreadsOfJob threads(job);
    try {
        return run_job<CpuSystem>(job);
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw DeviceError(std::string("thrust::reduce_by_key on the CPU: ") + error.what());
    }
}

std::string describe_cpu()
{
    const int threads = omp_get_max_threads();
    return "Thrust " + std::to_string(THRUST_MAJOR_VERSION) + "." + std::to_string(THRUST_MINOR_VERSION) +
           "." + std::to_string(THRUST_SUBMINOR_VERSION) + ", OpenMP with " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
}

}  // namespace segfold
