#pragma once
// Hashes for serialized folds, which another process continues.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace segfold {

/// Returns the first 64 bits of SHA-256.
[[nodiscard]] std::uint64_t hash_of(std::string_view text);

/// Returns a hash of `bytes`, leaving out the eight bytes at index `place`, where the caller stores the hash.
/// `place` is a multiple of eight.
///
/// The hash is computed in steps of eight bytes. Each step is invertible, so a change of one word always
/// changes the hash.
[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> bytes, std::size_t place);

}  // namespace segfold
