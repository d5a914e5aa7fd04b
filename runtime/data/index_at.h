#pragma once
// Reads one element of an array of indices.
#include <cstdint>

#include "dsl/array.h"

namespace segfold {

/// Returns element `place` of an array of i32 or i64.
inline std::int64_t index_at(const Array& array, std::int64_t place)
{
    const auto i = static_cast<std::size_t>(place);
    return array.type() == Type::i32 ? array.as<std::int32_t>()[i] : array.as<std::int64_t>()[i];
}

}  // namespace segfold
