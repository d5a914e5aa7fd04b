// Thrust's OpenMP system, compiled by the host's C++ compiler.
#define THRUST_HOST_SYSTEM THRUST_HOST_SYSTEM_CPP
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_OMP
#define THRUST_WRAPPED_NAMESPACE segfold_thrust_cpu
#include <omp.h>
#include <thrust/system/omp/execution_policy.h>
#include <thrust/system/omp/vector.h>
#include <thrust/version.h>

#include <exception>

#include "runtime/backends/thrust/run_job.h"

namespace segfold {
namespace {

/// The Thrust system of the CPU: its memory is the host's.
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

}  // namespace

Outcome run_on_cpu(const ThrustJob& job)
{
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
