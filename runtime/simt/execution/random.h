#pragma once
// The random numbers of schedules. Equal seeds give equal numbers on every machine.
#include <bit>
#include <cstdint>

#include "runtime/support/random.h"

namespace segfold::simt {

/// Generator of 32-bit numbers. RandomSequence scrambles the seed, so that neighbouring seeds give unrelated
/// schedules.
///
/// Source: Vigna, "Further scramblings of Marsaglia's xorshift generators", 2017.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(RandomSequence(0).at(seed) | 1) {}

    std::uint32_t next()
    {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return static_cast<std::uint32_t>(state_ * 0x2545f4914f6cdd1dull >> 32);
    }

    /// Returns a number below `bound`, which must not be 0.
    std::uint32_t below(std::uint32_t bound)
    {
        return static_cast<std::uint32_t>(std::uint64_t{next()} * bound >> 32);
    }

    /// Returns the index of a random set bit of `set`, which must not be 0. A bit after a run of zeros is
    /// likelier than others, which does not harm schedules.
    unsigned bit_of(std::uint32_t set)
    {
        const int turn = static_cast<int>(next() >> 27);
        return (static_cast<unsigned>(std::countr_zero(std::rotr(set, turn))) + static_cast<unsigned>(turn)) %
               32;
    }

private:
    std::uint64_t state_;
};

}  // namespace segfold::simt
