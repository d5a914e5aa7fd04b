#include "runtime/scale/serialized.h"

#include <cstring>

#include "runtime/support/files/sha256.h"

namespace segfold {

std::uint64_t hash_of(std::string_view text)
{
    const auto digest = cache::sha256(text);
    std::uint64_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
}

std::uint64_t checksum_of(std::span<const std::byte> bytes, std::size_t place)
{
    std::uint64_t hash = bytes.size();
    const auto add = [&](std::size_t at, std::size_t count) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, count);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32U;
    };
    constexpr std::size_t kWord = sizeof hash;
    std::size_t at = 0;
    for (; at + kWord <= bytes.size(); at += kWord)
        if (at != place)
            add(at, kWord);
    add(at, bytes.size() - at);
    return hash;
}

}  // namespace segfold
