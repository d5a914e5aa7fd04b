#include "tests/benchmark/cub_devices.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace segfold::benchmark {
namespace {

void check(cudaError_t error, const char* call)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(call) + " failed: " + cudaGetErrorString(error));
}

/// Memory of a GPU, freed with its owner.
template <class T>
class Memory {
public:
    explicit Memory(std::size_t count) : count_(count)
    {
        if (count != 0)
            check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
    }
    Memory(Memory&& other) noexcept : data_(other.data_), count_(other.count_) { other.data_ = nullptr; }
    ~Memory() { cudaFree(data_); }

    T* data() const { return data_; }
    std::size_t count() const { return count_; }
    void copy_in(const T* host)
    {
        check(cudaMemcpy(data_, host, count_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }

private:
    T* data_ = nullptr;
    std::size_t count_;
};

/// The begin of each piece of one length.
struct Multiple {
    std::int64_t length;
    __host__ __device__ std::int64_t operator()(std::int64_t piece) const { return piece * length; }
};

/// Writes the number of its piece to each element: a warp takes a piece.
__global__ void write_keys(const std::int64_t* offsets, std::int64_t count, std::int64_t length,
                           std::int32_t* keys)
{
    const std::int64_t warps = std::int64_t{gridDim.x} * blockDim.x / 32;
    for (std::int64_t piece = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; piece < count;
         piece += warps) {
        const std::int64_t begin = offsets != nullptr ? offsets[piece] : piece * length;
        const std::int64_t end = offsets != nullptr ? offsets[piece + 1] : begin + length;
        for (std::int64_t i = begin + threadIdx.x % 32; i < end; i += 32)
            keys[i] = static_cast<std::int32_t>(piece);
    }
}

}  // namespace

struct CubPart::State {
    State(int on, std::span<const float> of, const CubPieces& pieces, CubWay by)
        : device(on),
          way(by),
          count(pieces.count),
          length(pieces.uniform_length),
          values(of.size()),
          offsets(pieces.offsets.size()),
          sums(static_cast<std::size_t>(pieces.count)),
          keys(by == CubWay::reduce_by_key ? of.size() : 0),
          unique(by == CubWay::reduce_by_key ? static_cast<std::size_t>(pieces.count) : 0),
          num_runs(1)
    {
        values.copy_in(of.data());
        if (offsets.count() != 0)
            offsets.copy_in(pieces.offsets.data());
        if (keys.count() != 0) {
            write_keys<<<4096, 256>>>(offsets.data(), count, length, keys.data());
            check(cudaDeviceSynchronize(), "write_keys");
        }
        std::size_t bytes = 0;
        run(nullptr, bytes);
        temporary.emplace(bytes);
    }

    /// As CUB has it: without temporary storage it only says how much it needs.
    void run(void* storage, std::size_t& bytes)
    {
        const auto num_items = static_cast<std::int64_t>(values.count());
        if (way == CubWay::reduce) {
            check(cub::DeviceReduce::Sum(storage, bytes, values.data(), sums.data(), num_items),
                  "cub::DeviceReduce::Sum");
        } else if (way == CubWay::reduce_by_key) {
            check(cub::DeviceReduce::ReduceByKey(storage, bytes, keys.data(), unique.data(), values.data(),
                                                 sums.data(), num_runs.data(), cuda::std::plus<>{},
                                                 num_items),
                  "cub::DeviceReduce::ReduceByKey");
        } else if (offsets.count() != 0) {
            check(cub::DeviceSegmentedReduce::Sum(storage, bytes, values.data(), sums.data(), count,
                                                  offsets.data(), offsets.data() + 1),
                  "cub::DeviceSegmentedReduce::Sum");
        } else {
            const auto begins = thrust::make_transform_iterator(
                thrust::counting_iterator<std::int64_t>(0), Multiple{length});
            check(cub::DeviceSegmentedReduce::Sum(storage, bytes, values.data(), sums.data(), count, begins,
                                                  begins + 1),
                  "cub::DeviceSegmentedReduce::Sum");
        }
    }

    int device;
    CubWay way;
    std::int64_t count, length;
    Memory<float> values;
    Memory<std::int64_t> offsets;
    Memory<float> sums;
    Memory<std::int32_t> keys, unique;
    Memory<std::int64_t> num_runs;
    std::optional<Memory<char>> temporary;
};

CubPart::CubPart(int device, std::span<const float> values, const CubPieces& pieces, CubWay way)
{
    check(cudaSetDevice(device), "cudaSetDevice");
    state_ = std::make_unique<State>(device, values, pieces, way);
}

CubPart::~CubPart()
{
    if (state_)
        cudaSetDevice(state_->device);
}

CubPart::CubPart(CubPart&&) noexcept = default;

void CubPart::queue()
{
    check(cudaSetDevice(state_->device), "cudaSetDevice");
    auto bytes = state_->temporary->count();
    state_->run(state_->temporary->data(), bytes);
}

void CubPart::wait()
{
    check(cudaSetDevice(state_->device), "cudaSetDevice");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

float CubPart::result(std::int64_t piece)
{
    float value = 0;
    check(cudaSetDevice(state_->device), "cudaSetDevice");
    check(cudaMemcpy(&value, state_->sums.data() + piece, sizeof value, cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    return value;
}

void CubPart::set_result(std::int64_t piece, float value)
{
    check(cudaSetDevice(state_->device), "cudaSetDevice");
    check(cudaMemcpy(state_->sums.data() + piece, &value, sizeof value, cudaMemcpyHostToDevice),
          "cudaMemcpy");
}

std::vector<float> CubPart::results()
{
    std::vector<float> all(state_->sums.count());
    check(cudaSetDevice(state_->device), "cudaSetDevice");
    check(cudaMemcpy(all.data(), state_->sums.data(), all.size() * sizeof(float), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    return all;
}

int num_cuda_devices()
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace segfold::benchmark
