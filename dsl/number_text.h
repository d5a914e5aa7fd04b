#pragma once
// Integers as people write them, the same wherever one is read.
#include <cstdint>
#include <optional>
#include <string_view>

namespace segfold {

/// An integer in decimal, as 2^20, or as 1e6; nothing if `text` is something else or beyond 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace segfold
