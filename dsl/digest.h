#pragma once
// Digests of 128 bits, by which equal trees are recognised without a walk.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace segfold {

/// A hash of the words and texts that were added, in their order.
///
/// Sequences with equal digests count as equal: the chance that any two of 2^32 sequences share one is 2^-65.
/// Nothing on disk holds a digest, so digests may change from one version to the next.
class Digest {
public:
    void add(std::uint64_t word)
    {
        first_ = (first_ ^ word) * 0x9e3779b97f4a7c15U;
        first_ ^= first_ >> 32U;
        second_ = (second_ + word) * 0xd6e8feb86659fd93U;
        second_ ^= second_ >> 31U;
    }
    void add(std::string_view text)
    {
        add(text.size());
        for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof(std::uint64_t)))) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
            add(word);
        }
    }
    void add(const Digest& part)
    {
        add(part.first_);
        add(part.second_);
    }

    [[nodiscard]] std::uint64_t first() const { return first_; }
    [[nodiscard]] std::uint64_t second() const { return second_; }
    auto operator<=>(const Digest&) const = default;

private:
    std::uint64_t first_ = 0x243f6a8885a308d3U, second_ = 0x13198a2e03707344U;
};

}  // namespace segfold
