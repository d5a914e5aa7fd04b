// Peers that fold_benchmark.py measures beside libraries of Python: a read of the column by all cores, and
// thrust::reduce_by_key on OpenMP with the operator as C++. The benchmark compiles this file when it begins:
//
//     g++ -std=c++17 -O3 -march=native -fopenmp -shared -fPIC -isystem CCCL host_peers.cpp
//
// `keys` holds, for each element, the number of its segment. No segment is empty.
#define THRUST_HOST_SYSTEM THRUST_HOST_SYSTEM_CPP
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_OMP
#include <thrust/functional.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/system/omp/execution_policy.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include <cstdint>
#include <vector>

namespace {

/// Reads floats as fast as a core can: eight vectors of sums.
float read(const float* values, std::int64_t count)
{
    typedef float Vector
        __attribute__((vector_size(64), aligned(4)));  // clang ignores the alignment in an alias
    Vector sums[8] = {};
    std::int64_t i = 0;
    for (; i + 128 <= count; i += 128)
        for (int k = 0; k < 8; ++k)
            sums[k] += *reinterpret_cast<const Vector*>(values + i + k * 16);
    float total = 0;
    for (; i < count; ++i)
        total += values[i];
    for (const auto& vector : sums)
        for (int lane = 0; lane < 16; ++lane)
            total += vector[lane];
    return total;
}

/// The state of mean_variance, as the standard operator has it.
struct Moments {
    int n;
    float mean, m2;
};

struct Lift {
    Moments operator()(float x) const { return {1, x, 0}; }
};

struct Combine {
    Moments operator()(const Moments& a, const Moments& b) const
    {
        const int total = a.n + b.n;
        const float delta = b.mean - a.mean;
        const float share = total == 0 ? 0.0F : static_cast<float>(b.n) / static_cast<float>(total);
        return {total, a.mean + delta * share, a.m2 + b.m2 + delta * delta * static_cast<float>(a.n) * share};
    }
};

struct Finish {
    thrust::tuple<float, float> operator()(const Moments& state) const
    {
        return thrust::make_tuple(state.mean, state.m2 / static_cast<float>(state.n));
    }
};

}  // namespace

extern "C" float read_by_all(const float* values, std::int64_t count)
{
    constexpr std::int64_t kPart = 1 << 18;
    const std::int64_t parts = (count + kPart - 1) / kPart;
    float total = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : total)
    for (std::int64_t part = 0; part < parts; ++part)
        total += read(values + part * kPart, part + 1 < parts ? kPart : count - part * kPart);
    return total;
}

extern "C" void thrust_sum(const std::int32_t* keys, const float* values, std::int64_t count, float* sums)
{
    thrust::reduce_by_key(thrust::omp::par, keys, keys + count, values, thrust::make_discard_iterator(),
                          sums);
}

extern "C" void thrust_mean_variance(const std::int32_t* keys, const float* values, std::int64_t count,
                                     float* mean, float* variance)
{
    // Static, so that only the first call, which is not timed, allocates.
    static std::vector<Moments> moments;
    moments.resize(static_cast<std::size_t>(keys[count - 1]) + 1);
    thrust::reduce_by_key(thrust::omp::par, keys, keys + count,
                          thrust::make_transform_iterator(values, Lift()), thrust::make_discard_iterator(),
                          moments.begin(), thrust::equal_to<std::int32_t>(), Combine());
    thrust::transform(thrust::omp::par, moments.begin(), moments.end(),
                      thrust::make_zip_iterator(thrust::make_tuple(mean, variance)), Finish());
}
