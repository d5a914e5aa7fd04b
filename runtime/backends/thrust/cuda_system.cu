// Thrust's CUDA system, compiled by nvcc. The CUDA runtime uses the device's primary context, like
// runtime/backends/cuda.
#define THRUST_CUB_WRAPPED_NAMESPACE segfold_thrust_cuda
#define THRUST_FORCE_64_BIT_OFFSET_TYPE  // compiles one set of kernels instead of two
#include <cuda_runtime.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system/cuda/vector.h>
#include <thrust/version.h>

#include <exception>

#include "runtime/backends/thrust/run_job.h"

namespace segfold {
namespace {

void check_call(cudaError_t error, const char* call)
{
    if (error != cudaSuccess)
        throw DeviceError(std::string(call) + ": " + cudaGetErrorName(error) + ": " +
                          cudaGetErrorString(error));
}

/// Makes a device the thread's current device. The destructor restores the previous device.
class CurrentDevice {
public:
    explicit CurrentDevice(int device)
    {
        check_call(cudaGetDevice(&previous_), "cudaGetDevice");
        check_call(cudaSetDevice(device), "cudaSetDevice");
    }
    ~CurrentDevice() { cudaSetDevice(previous_); }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    int previous_ = 0;
};

/// The Thrust system of a GPU, which copies host memory to the GPU.
struct CudaSystem {
    static auto policy() { return THRUST_NS_QUALIFIER::cuda::par; }

    template <class T>
    using Vector = THRUST_NS_QUALIFIER::cuda::vector<T>;

    class Bytes {
    public:
        Bytes(void* host, std::size_t bytes) : host_(host), bytes_(bytes)
        {
            if (bytes == 0)
                return;
            check_call(cudaMalloc(&data_, bytes), "cudaMalloc");
            if (const auto error = cudaMemcpy(data_, host, bytes, cudaMemcpyHostToDevice);
                error != cudaSuccess) {
                cudaFree(data_);
                check_call(error, "cudaMemcpy");
            }
        }
        ~Bytes() { cudaFree(data_); }
        Bytes(const Bytes&) = delete;
        Bytes& operator=(const Bytes&) = delete;

        [[nodiscard]] void* data() const { return data_; }
        void copy_back()
        {
            if (bytes_ != 0)
                check_call(cudaMemcpy(host_, data_, bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
        }

    private:
        void* host_;
        std::size_t bytes_;
        void* data_ = nullptr;
    };
};

}  // namespace

Outcome run_on_cuda(const ThrustJob& job, int device)
{
    try {
        const CurrentDevice current(device);
        return run_job<CudaSystem>(job);
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw DeviceError(std::string("thrust::reduce_by_key on CUDA: ") + error.what());
    }
}

std::string cuda_objection()
{
    int count = 0;
    const auto error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        cudaGetLastError();  // clears the error, or the next call would report it
        return std::string("there is no usable GPU: ") + cudaGetErrorString(error);
    }
    return count == 0 ? "there is no GPU" : "";
}

std::string describe_cuda()
{
    cudaDeviceProp properties{};
    int device = 0;
    check_call(cudaGetDevice(&device), "cudaGetDevice");
    check_call(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return "Thrust " + std::to_string(THRUST_MAJOR_VERSION) + "." + std::to_string(THRUST_MINOR_VERSION) +
           "." + std::to_string(THRUST_SUBMINOR_VERSION) + ", " + properties.name;
}

}  // namespace segfold
