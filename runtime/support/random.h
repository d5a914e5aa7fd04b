#pragma once
// Pseudo-random numbers that are the same on every machine. Each number of a sequence can be computed without
// the numbers before it.
#include <cstdint>
#include <limits>

namespace segfold {

/// A sequence of 64-bit numbers. Any number of the sequence takes constant time. A UniformRandomBitGenerator.
///
/// Source: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014
/// (SplitMix64).
class RandomSequence {
public:
    using result_type = std::uint64_t;

    explicit constexpr RandomSequence(std::uint64_t seed) : state_(seed) {}

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

    constexpr result_type operator()() { return mix(state_ += kStep); }

    /// Returns number `place` of the sequence, counted from 0. A fresh generator returns it at call `place` +
    /// 1.
    [[nodiscard]] constexpr result_type at(std::uint64_t place) const
    {
        return mix(state_ + (place + 1) * kStep);
    }

    /// Derives a seed for sequence number `stream` from `seed`. The sequences are independent of each other.
    static constexpr std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t stream)
    {
        return mix(mix(seed + kStep) ^ mix(stream + 2 * kStep));
    }

private:
    static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;

    static constexpr std::uint64_t mix(std::uint64_t z)
    {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

}  // namespace segfold
