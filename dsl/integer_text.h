#pragma once
// Reads integers in the forms that people write.
#include <cstdint>
#include <optional>
#include <string_view>

namespace segfold {

/// Reads an integer in decimal (4096), as a power (2^20) or with an exponent (1e6, 2.5e3). None if `text` is
/// anything else, has a fraction, or exceeds 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Reads an integer from 0 to 2^64 - 1 in the forms of parse_integer(). None for any other text.
std::optional<std::uint64_t> parse_unsigned_integer(std::string_view text);

}  // namespace segfold
