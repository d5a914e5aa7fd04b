#pragma once
// The random numbers of schedules: equal on every machine for equal seeds.
#include <bit>
#include <cstdint>

#include "runtime/support/random.h"

namespace segfold::simt {

/// Source: Vigna, "Further scramblings of Marsaglia's xorshift generators", 2017; seeded by RandomSequence,
/// so that the schedules of seeds side by side have nothing in common.
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

    /// A number below `bound`, which is not 0.
    std::uint32_t below(std::uint32_t bound)
    {
        return static_cast<std::uint32_t>(std::uint64_t{next()} * bound >> 32);
    }

    /// One of the bits of `set`, which is not 0; after a gap the next bit is likelier, which does not matter
    /// here.
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
