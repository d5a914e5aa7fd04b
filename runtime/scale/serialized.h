#pragma once
// Hashes in the bytes of folds that go on in another process.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace segfold {

/// Returns the first 64 bits of SHA-256.
[[nodiscard]] std::uint64_t hash_of(std::string_view text);

/// Returns a hash of `bytes` without the eight bytes at `place`, which are to hold it. `place` is a multiple
/// of eight.
///
/// It is computed in steps of eight bytes. Each step is invertible, so a change within the eight bytes of one
/// step always changes the hash.
[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> bytes, std::size_t place);

}  // namespace segfold
