#pragma once
// SHA-256, the checksum and key of files in the cache.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace segfold::cache {

/// The 32 bytes of a SHA-256 digest (FIPS 180-4).
using Digest = std::array<std::uint8_t, 32>;

/// Returns the digest of `bytes`.
[[nodiscard]] Digest sha256(std::string_view bytes);

/// Returns the digest of `bytes` in 64 hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace segfold::cache
