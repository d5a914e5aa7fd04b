#pragma once
// Integers as people write them.
#include <cstdint>
#include <optional>
#include <string_view>

namespace segfold {

/// An integer written in decimal (4096), as a power (2^20) or with an exponent (1e6, 2.5e3); nothing if
/// `text` is something else, has a fraction, or is beyond 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// The same from 0 to 2^64 - 1.
std::optional<std::uint64_t> parse_unsigned_integer(std::string_view text);

}  // namespace segfold
